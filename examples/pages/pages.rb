# frozen_string_literal: true

# Two pages that link to each other, and one for every other path.
class Pages
  HTML = { "content-type" => "text/html; charset=utf-8" }.freeze

  class << self
    def call(env)
      case env["PATH_INFO"]
      when "/" then [200, HTML, [start(env["REQUEST_METHOD"])]]
      when "/about" then [200, HTML, [about]]
      else [404, HTML, [missing]]
      end
    end

    private

    def start(method)
      page("Start", <<~TEXT)
        <p>This is the answer to #{method}.</p>
        <p>Read <a href="/about">about these pages</a>, or visit <a href="/missing">a page that does not exist</a>.</p>
      TEXT
    end

    def about
      page("About", %(<p>These pages need nothing but Rack. <a href="/">Start</a></p>\n))
    end

    def missing
      page("Not found", %(<p>No page has this address. <a href="/">Start</a></p>\n))
    end

    def page(title, content)
      <<~HTML + content
        <!DOCTYPE html>
        <meta charset="utf-8">
        <title>#{title}</title>
        <h1>#{title}</h1>
      HTML
    end
  end
end
