# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/documented_blocks"
require_relative "../support/nginx_process"
require "json"
require "open3"
require "psych"
require "shellwords"

# The pages' blocks for other programs: the program that reads such a file checks the block.
class DocumentedConfigurationTest < Minitest::Test
  CHECKED = %w[dockerfile ini js nginx yaml].freeze
  ELSEWHERE = ["", "console", "ruby", "sh"].freeze # outputs, and the blocks of DocumentedCodeTest
  SERVER = /^server \{/
  UNIT_LINE = /\A(?:\[\w+\]|[A-Z]\w+=.*|#.*|)\n\z/
  METHOD = /\A\w+\(.*\) \{/

  def test_each_language_has_a_check
    assert_equal CHECKED, (DocumentedBlocks::ALL.map(&:language) - ELSEWHERE).uniq.sort
  end

  def test_nginx
    skip "there is no nginx" unless NginxProcess.there?
    DocumentedBlocks.of("nginx").each do |block|
      in_directory do |directory|
        File.write("nginx.conf", nginx_configuration(block.text, directory))
        assert_accepts block, NginxProcess::PROGRAM, "-t", "-q", "-e", "stderr", "-p", directory, "-c", "nginx.conf"
      end
    end
  end

  # systemd-analyze only warns of an unknown name, so it has to be silent. It requires that programs exist.
  def test_systemd_units
    skip "no systemd-analyze here (Debian: systemd)" unless system("which systemd-analyze", out: File::NULL)
    in_directory do
      units = DocumentedBlocks.of("ini").to_h { |block| [block.text[%r{\A# /etc/systemd/system/(\S+)}, 1], block] }
      units.each { |name, block| File.write(name, block.text.gsub("/usr/bin/bundle", "/bin/kill")) }
      assert_accepts units.values.first, "systemd-analyze", "verify", "--man=no", *units.keys.map { |name| "./#{name}" }
    end
  end

  def test_lines_of_systemd_units
    DocumentedBlocks.of("ini").each { |block| assert_empty block.text.lines.grep_v(UNIT_LINE), block.page }
  end

  def test_yaml
    DocumentedBlocks.of("yaml").each { |block| assert_kind_of Hash, Psych.safe_load(block.text), block.page }
  end

  def test_javascript
    skip "node is not on the PATH" unless system("node", "--version", out: File::NULL, err: File::NULL)
    DocumentedBlocks.of("js").each do |block|
      in_directory do
        File.write("block.js", block.text.match?(METHOD) ? "class Whole {\n#{block.text}}\n" : block.text)
        assert_accepts block, "node", "--check", "block.js"
      end
    end
  end

  def test_commands_of_containers
    dockerfiles = DocumentedBlocks.of("dockerfile").map { |block| [block, JSON.parse(block.text[/\ACMD (\[.*\])$/, 1])] }
    procfiles = DocumentedBlocks.of("yaml").filter_map { |block| [block, Psych.safe_load(block.text)["web"].shellsplit] if block.text[/\Aweb:/] }
    refute_empty procfiles
    (dockerfiles + procfiles).each { |block, command| assert_checked(block, command) }
  end

  private

  def in_directory(&block)
    Dir.mktmpdir { |directory| Dir.chdir(directory) { block.call(directory) } }
  end

  # A block with a server belongs in the block `http`, any other in a location.
  def nginx_configuration(text, directory)
    text = "server {\nlocation / {\n#{text}} }" unless text.match?(SERVER)
    text = text.sub(SERVER, "server { listen unix:#{directory}/nginx.sock;") # nginx -t listens, too
    paths = %w[client_body proxy fastcgi uwsgi scgi].map { |name| "#{name}_temp_path #{directory}/#{name};" }
    "pid #{directory}/nginx.pid;\nevents {}\nhttp {\n#{paths.join("\n")}\naccess_log off;\n#{text}\n}\n"
  end

  def assert_accepts(block, *command)
    output, status = Open3.capture2e(*command)
    assert status.success? && output.empty?, "#{block.page}: #{output}"
  end

  def assert_checked(block, command)
    assert_equal %w[bundle exec upwell], command.first(3), block.page
    in_directory do
      File.write("config.ru", "run ->(_) { [200, {}, []] }")
      output, status = Open3.capture2e(*ServerProcess.spawn_arguments(*command.drop(3), "--check"))
      assert_predicate status, :success?, "#{block.page}: #{output}"
    end
  end
end
