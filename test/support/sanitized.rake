# frozen_string_literal: true

SANITIZED = "build/sanitized"

desc "Compile the extension under ASan and UBSan into #{SANITIZED}"
task "compile:sanitized" do
  mkdir_p "#{SANITIZED}/upwell", verbose: false
  choices = { "UPWELL_CHECK_OWNER" => "1", "UPWELL_SANITIZE" => "1" }
  sh choices, RbConfig.ruby, "../../ext/upwell/extconf.rb", chdir: SANITIZED, out: File::NULL, verbose: false
  sh "make", "--silent", "-j2", chdir: SANITIZED, out: File::NULL, verbose: false
  cp "#{SANITIZED}/upwell.so", "#{SANITIZED}/upwell/upwell.so", verbose: false
end
