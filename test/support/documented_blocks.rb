# frozen_string_literal: true

# The blocks of code of the pages for users.
module DocumentedBlocks
  ROOT = File.expand_path("../..", __dir__)
  PAGES = Dir.glob(%w[README.md docs/*.md docs/guide/*.md docs/reference/*.md], base: ROOT).sort - ["docs/reference/settings.md"] # generated
  Block = Struct.new(:page, :language, :text)
  ALL = PAGES.flat_map do |page|
    blocks = File.read(File.join(ROOT, page), encoding: "UTF-8").scan(/^ *```(\w*)\n(.*?)^ *```$/m)
    blocks.map { |language, text| Block.new(page, language, text) }
  end.freeze

  # @param language [String] the word after the backquotes
  # @return [Array<Block>]
  def self.of(language) = ALL.select { |block| block.language == language }
end
