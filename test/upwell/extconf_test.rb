# frozen_string_literal: true

require_relative "../test_helper"
require "open3"
require "rbconfig"
require "rubygems/ext"
require "tmpdir"

# The gem's installation where the extension cannot be compiled.
class ExtconfTest < Minitest::Test
  EXTCONF = File.expand_path("../../ext/upwell/extconf.rb", __dir__)

  def test_without_a_compiler_the_extension_is_left_out
    in_a_folder_without_a_compiler do |environment|
      output, status = Open3.capture2e(environment, RbConfig.ruby, EXTCONF)
      assert_predicate status, :success?, output
      assert_match(/\Aupwell is installed without its extension in C: there is no compiler: .+ does not run\n\z/, output)
      next if Gem::Ext::Builder.const_defined?(:NoMakefileError) # this RubyGems needs none

      assert system("make", "clean", "all", "install", out: File::NULL, err: File::NULL)
    end
  end

  def test_a_backend_that_was_asked_for_needs_a_compiler
    in_a_folder_without_a_compiler do |environment|
      output, status = Open3.capture2e({ **environment, "UPWELL_BACKENDS" => "epoll" }, RbConfig.ruby, EXTCONF)
      refute_predicate status, :success?
      assert_match(/\AUPWELL_BACKENDS names a backend, but there is no compiler: .+ does not run\n\z/, output)
      refute_path_exists "Makefile"
    end
  end

  private

  def in_a_folder_without_a_compiler
    Dir.mktmpdir { |folder| Dir.chdir(folder) { yield({ "PATH" => folder, "UPWELL_BACKENDS" => nil, "RUBYOPT" => nil }) } }
  end
end
