# frozen_string_literal: true

require "open3"
require_relative "application"
require_relative "tls_option"

# The clients in JavaScript, with the packages of clients/package.json.
module NodeClients
  CLIENTS = File.join(Application::FOLDER, "clients")
  PACKAGES = File.join(Application::CACHE, "node")
  RUN_MAX = 60 # seconds

  # @param script [String] of the folder clients
  # @return [String] what it printed; raises unless it is content
  def self.run(script, *arguments)
    install
    environment = { "NODE_PATH" => File.join(PACKAGES, "node_modules"), **TLSOption.environment }
    output, status = Open3.capture2e(environment, "timeout", RUN_MAX.to_s, "node", File.join(CLIENTS, script), *arguments)
    status.success? ? output : raise("#{script} failed:\n#{output}")
  end

  def self.install
    package = File.read(File.join(CLIENTS, "package.json"))
    copy = File.join(PACKAGES, "package.json")
    return if File.exist?(copy) && File.read(copy) == package && File.directory?(File.join(PACKAGES, "node_modules", "ws"))

    FileUtils.mkdir_p(PACKAGES)
    File.write(copy, package)
    output, status = Open3.capture2e("npm", "install", "--loglevel", "error", "--no-audit", "--no-fund", chdir: PACKAGES)
    raise "npm install failed:\n#{output}" unless status.success?
  end
  private_class_method :install
end
