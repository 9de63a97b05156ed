# frozen_string_literal: true

require "cgi"

# Draws docs/pictures/*.svg from the text files beside them: `rake docs:pictures`. A line is one of:
#
#     title TEXT                            the first line
#     box NAME COLUMN ROW COLUMNS TEXT      a column is 30 wide, a row 50 high; 12 columns fill a phone's screen
#     dim NAME COLUMN ROW COLUMNS TEXT      a box that is filled
#     text NAME COLUMN ROW COLUMNS TEXT     without a box
#     arrow FROM TO                         between boxes of different rows
module SVGDiagrams
  DIRECTORY = File.expand_path("../pictures", __dir__)
  COLUMN = 30
  ROW = 50
  HEIGHT = 32
  Box = Struct.new(:kind, :x, :y, :width, :text) do
    def right = x + width
    def middle = x + (width / 2)
    def bottom = y + HEIGHT
  end

  STYLE = <<~CSS
    text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle }
    rect { fill: #fff; stroke: #57606a }
    .dim { fill: #ddf4ff }
    path { stroke: #57606a; fill: none; marker-end: url(#head) }
    marker path { fill: #57606a; stroke: none; marker-end: none }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      rect { fill: #161b22; stroke: #8b949e }
      .dim { fill: #0c2d6b }
      path { stroke: #8b949e }
      marker path { fill: #8b949e }
    }
  CSS
  HEAD = '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">' \
         '<path d="M0 0 8 4 0 8z"/></marker></defs>'

  module_function

  # @return [Hash{String => String}] SVGs by path
  def all
    Dir.glob("#{DIRECTORY}/*.txt").to_h { |path| [path.sub(/txt\z/, "svg"), draw(File.read(path))] }
  end

  def draw(source)
    title, *lines = source.lines.map(&:split)
    arrows, boxes = lines.partition { |kind,| kind == "arrow" }
    boxes = boxes.to_h { |line| [line[1], box(line)] }
    [*head(title.drop(1).join(" "), boxes.values), *arrows.map { |_, *ends| arrow(*boxes.fetch_values(*ends)) },
     *boxes.values.map { |box| shape(box) }, "</svg>", ""].join("\n")
  end

  def head(title, boxes)
    height = boxes.map(&:bottom).max + 4
    [%(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 #{height}" role="img">), "<title>#{CGI.escapeHTML(title)}</title>",
     "<style>\n#{STYLE}</style>", HEAD]
  end

  def box((kind, _name, column, row, columns, *text))
    Box.new(kind, (column.to_f * COLUMN) + 2, (row.to_f * ROW) + 2, (columns.to_f * COLUMN) - 4, text.join(" "))
  end

  def shape(box)
    text = %(<text x="#{box.middle}" y="#{box.y + 20}">#{CGI.escapeHTML(box.text)}</text>)
    return text if box.kind == "text"

    %(<rect class="#{box.kind}" x="#{box.x}" y="#{box.y}" width="#{box.width}" height="#{HEIGHT}" rx="4"/>#{text})
  end

  # From the middle of the part that both boxes share, if there is one, so that the arrow is vertical.
  def arrow(from, to)
    left = [from.x, to.x].max
    right = [from.right, to.right].min
    ends = right > left ? [(left + right) / 2] * 2 : [from.middle, to.middle]
    heights = to.y > from.y ? [from.bottom, to.y] : [from.y, to.bottom]
    %(<path d="M#{ends[0]} #{heights[0]} #{ends[1]} #{heights[1]}"/>)
  end
end
