# frozen_string_literal: true

require_relative "example_page_test_case"

# examples/live_log, as two people see it.
class LiveLogTest < ExamplePageTestCase
  EXAMPLE = "live_log"
  VISITS = 30

  def test_both_see_each_visit
    with_pages do |url, browser|
      first = browser.page(url)
      second = browser.page(url, dark: true, phone: true, size: [390, 780])
      on_two_workers(second, first)

      first.value("Promise.all(['/tea', '/coffee', '/cake', '/favicon.ico'].map((path) => fetch(path)))")
      first.click("#traffic")
      [first, second].each { |page| %w[/tea /coffee /cake].each { |path| page.await_text("#lines", path) } }
      first.await("document.querySelectorAll('#lines li').length > 14")
      [first, second].zip(%w[live_log_light live_log_phone_dark]) { |page, name| page.screenshot(name) }
      first.click("#traffic")

      first.click("#filter")
      first.type("/tea")
      first.await("[...document.querySelectorAll('#lines li:not(.hidden)')].every((line) => line.title.includes('/tea'))")
      assert_equal [[], []], [first.complaints, second.complaints]
    end
  end

  def test_nothing_is_missed_when_connections_are_cut
    with_pages do |url, browser|
      page = browser.page(url, dark: true)
      worker(page)
      page.value("(async () => { for (let i = 0; i < #{VISITS}; i++) { await fetch(`/visit-${i}.`); " \
                 "if (i === 10) await fetch('/cut', { method: 'POST' }) } })()")
      page.await("document.querySelector('#cuts').innerText !== '0'")
      VISITS.times { |number| page.await_text("#lines", "/visit-#{number}.") }
      assert_equal "0", page.text("#missed")
      assert_equal VISITS, page.value("new Set([...document.querySelectorAll('#lines li')].map((line) => line.title.split(' ').at(-1)" \
                                      ").filter((path) => path.startsWith('/visit'))).size")
      page.screenshot("live_log_dark")
    end
  end
end
