# frozen_string_literal: true

require "cgi"

module Bench
  # The results as bars, in SVG. A band for each workload; in it a group for each candidate, with a bar for each number of connections;
  # on the left the rate, on the right CPU time.
  class Chart
    Panel = Struct.new(:title, :quantity, :left)

    WIDTH = 1020
    NAMES_WIDTH = 150
    PANEL_WIDTH = 400
    FIGURES_WIDTH = 55 # at the end of a bar
    BAR_HEIGHT = 10
    GROUP_GAP = 8
    HEAD_HEIGHT = 70
    BAND_HEAD_HEIGHT = 34
    BAND_GAP = 18

    PANELS = [Panel.new("%<units>s/s (more is better)", :rate, NAMES_WIDTH),
              Panel.new("CPU µs/%<unit>s (less is better)", :cpu_us, NAMES_WIDTH + PANEL_WIDTH + 40)].freeze
    UPWELL_COLOURS = ["#0b5cad", "#6aaee8", "#b5d6f3", "#dcebf9"].freeze
    PEER_COLOURS = ["#6b6b6b", "#ababab", "#d4d4d4", "#e9e9e9"].freeze
    STYLE = "text { font: 12px sans-serif; fill: #222 } .title { font-size: 17px; font-weight: bold } .band { font-weight: bold; " \
            "font-size: 14px } .small { font-size: 10px; fill: #555 } .end { text-anchor: end }"

    # @param tables [Array<WorkloadSamples>]
    def initialize(tables, title:)
      @bands = tables.group_by(&:workload)
      @title = title
      @connections = tables.filter_map(&:connections).uniq
    end

    # @return [String]
    def to_s
      @y = HEAD_HEIGHT
      bands = @bands.flat_map { |workload, tables| band(workload, tables) }
      <<~SVG
        <svg xmlns="http://www.w3.org/2000/svg" width="#{WIDTH}" height="#{@y}" viewBox="0 0 #{WIDTH} #{@y}" role="img">
        <title>#{CGI.escapeHTML(@title)}</title>
        <style>#{STYLE}</style>
        <rect width="100%" height="100%" fill="#fff"/>
        #{[*head, *bands].join("\n")}
        </svg>
      SVG
    end

    private

    def head
      keys = @connections.each_with_index.flat_map do |connections, index|
        left = NAMES_WIDTH + (index * 170)
        [bar(left, 38, 14, UPWELL_COLOURS[index]), bar(left + 16, 38, 14, PEER_COLOURS[index]),
         text(left + 36, 47, "#{connections} connections")]
      end
      [text(10, 24, @title, "title"), *keys]
    end

    def band(workload, tables)
      title = text(10, @y + 14, workload.title, "band")
      names = { units: workload.unit, unit: workload.unit.delete_suffix("s") }
      captions = PANELS.map { |panel| text(panel.left, @y + 28, format(panel.title, names), "small") }
      @y += BAND_HEAD_HEIGHT
      groups = tables.flat_map(&:candidates).uniq.flat_map { |candidate| group(candidate, tables) }
      @y += BAND_GAP
      [title, *captions, *groups]
    end

    def group(candidate, tables)
      name = text(NAMES_WIDTH - 8, @y + (tables.size * BAR_HEIGHT / 2) + 4, candidate.name, "end")
      bars = tables.flat_map do |table|
        row = table.failures[candidate] ? [] : PANELS.flat_map { |panel| figure(panel, table, tables, candidate) }
        @y += BAR_HEIGHT
        row
      end
      @y += GROUP_GAP
      [name, *bars]
    end

    def figure(panel, table, tables, candidate)
      value = table.median(candidate, panel.quantity)
      colours = candidate.upwell? ? UPWELL_COLOURS : PEER_COLOURS
      width = value / largest(panel, tables) * (PANEL_WIDTH - FIGURES_WIDTH)
      label = format(value < 1000 ? "%.1f" : "%.0f", value)
      [bar(panel.left, @y, width, colours[tables.index(table) % colours.size]), text(panel.left + width + 4, @y + 9, label, "small")]
    end

    def largest(panel, tables)
      tables.flat_map { |table| table.candidates.map { |candidate| table.median(candidate, panel.quantity) } }.max
    end

    def bar(left, top, width, colour)
      format('<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>', left, top, width, BAR_HEIGHT - 1, colour)
    end

    def text(left, base, content, style = nil)
      format('<text x="%.1f" y="%.1f"%s>%s</text>', left, base, style && " class=\"#{style}\"", CGI.escapeHTML(content))
    end
  end
end
