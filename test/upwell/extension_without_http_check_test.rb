# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/extension_without_http_check"
require "tmpdir"

# The check of `rake lint` that the binding holds no protocol: what it finds, and what it lets pass.
class ExtensionWithoutHTTPCheckTest < Minitest::Test
  def findings(code)
    Dir.mktmpdir do |folder|
      Dir.mkdir(File.join(folder, "rack"))
      File.write(File.join(folder, "rack", "some.c"), code)
      ExtensionWithoutHTTPCheck.new(folder).findings.map { |finding| finding[/some\.c:\d+/] }
    end
  end

  def test_names_of_fields_that_frame_are_found_in_any_case
    ['"Content-Length"', '"content-length: "', '"Transfer-Encoding: chunked"', '"connection"', '"Keep-Alive"'].each do |literal|
      assert_equal ["some.c:2"], findings("\nput(#{literal});\n"), literal
    end
  end

  def test_lines_of_a_message_are_found
    ['"\\r\\n"', "'\\r'", '"0\\r\\n\\r\\n"', '"HTTP/1.1 "'].each do |literal|
      assert_equal ["some.c:1"], findings("put(x, #{literal});\n"), literal
    end
  end

  def test_what_is_behind_an_escaped_quote_or_a_comment_is_found
    assert_equal %w[some.c:1 some.c:3], findings(%q(put("a\"b", "connection");) + "\n/* one\n*/ put(\"\\r\");\n")
  end

  def test_sentences_other_names_and_comments_pass
    assert_empty findings(<<~C)
      /* Content-Length, "connection" and "\\r\\n" are the core's. */
      raise("the connection cannot be hijacked", "connections_max", "HTTP/1.1", "CONTENT_LENGTH", '\\n');
    C
  end

  def test_the_binding_holds_none
    root = File.expand_path("../../ext", __dir__)
    refute_empty Dir[File.join(root, "**/*.c")]
    assert_empty ExtensionWithoutHTTPCheck.new(root).findings
  end
end
