# frozen_string_literal: true

require_relative "../apps/support/application"
require_relative "example_page_test_case"

# examples/action_cable, as two people see it, with the gems of an application of the tests.
class ActionCableTest < ExamplePageTestCase
  APP = Application.rails(code: "../../examples/action_cable")
  DRAIN = %w[--drain-timeout 4].freeze # clients leave in the first half
  STATE = "document.querySelector('#state').innerText"
  NAMES = "[...document.querySelectorAll('#water b')].map((name) => name.innerText).sort().join()"
  # From 0 to 1.
  PLACES = "[...document.querySelectorAll('#water li')].flatMap(({ style }) => [style.getPropertyValue('--x'), style.getPropertyValue('--y')])"
  # Those of hijacked sockets have none.
  EXTENSIONS = <<~JAVASCRIPT
    new Promise((tell) => {
      const socket = new WebSocket("/cable", ["actioncable-v1-json"])
      socket.onopen = () => { tell(socket.extensions); socket.close() }
    })
  JAVASCRIPT

  def test_two_people_meet
    with_two_people(dark: true, phone: true, size: [390, 780]) do |ada, grace|
      assert_includes ada.value(EXTENSIONS), "permessage-deflate"
      ada.drag([[600, 400], [2, 145]])
      grace.swipe([[100, 300], [380, 660]])
      [ada, grace].each { |page| page.await("#{PLACES}.sort().join() === '0,0,1,1'") }

      ada.drag([[2, 145], [300, 330]])
      grace.swipe([[380, 660], [250, 590]])
      [ada, grace].each { |page| page.await("#{PLACES}.every((part) => part > 0 && part < 1)") }
      say(ada, "Good evening! Who rows there, so late?")
      say(grace, "Grace, by the other worker. No Redis carries this: the server's processes talk to each other.")
      [ada, grace].each { |page| ["so late?", "to each other."].each { |words| page.await_text(".said p", words) } }
      ada.screenshot("action_cable_light")
      grace.screenshot("action_cable_phone_dark")
      assert_equal [[], []], [ada.complaints, grace.complaints]
    end
  end

  def test_a_person_leaves_and_comes_back
    with_pages do |url, browser|
      ada = enter(browser, url, "Ada", dark: true)
      ada.screenshot("action_cable_alone_dark")
      grace = enter(browser, url, "Grace", phone: true, size: [390, 780])
      await_names(ada, "Ada,Grace")
      ada.drag([[600, 400], [150, 300]])
      grace.swipe([[100, 300], [325, 560]])
      [ada, grace].each { |page| page.await("Math.min(...#{PLACES}) < 0.1 && Math.max(...#{PLACES}) > 0.9") }
      ada.screenshot("action_cable_dark")
      grace.screenshot("action_cable_phone_light")
      grace.visit("about:blank")
      await_names(ada, "Ada")
      grace.value("history.back()")
      await_names(ada, "Ada,Grace")
    end
  end

  # Nobody says that those leave whose worker is killed; they leave all the same.
  def test_it_connects_again
    with_two_people do |ada, grace|
      killed = worker(ada)
      Process.kill("KILL", killed[/\d+/].to_i)
      ada.await("document.body.matches('.away')")
      refute_equal killed, worker(ada)
      say(ada, "Here I am again.")
      grace.await_text(".said p", "Here I am again.")
      [ada, grace].each { |page| await_names(page, "Ada,Grace") }
      assert_equal [[], []], [ada.complaints, grace.complaints]
    end
  end

  def test_workers_are_replaced
    with_two_people do |ada, grace, server|
      replaced = [ada, grace].map { |page| worker(page) }
      server.signal("USR1")
      [ada, grace].each { |page| page.await("!#{replaced.to_json}.includes(#{STATE}) && #{STATE}.startsWith('worker')") }
      say(grace, "The same water.")
      ada.await_text(".said p", "The same water.")
      [ada, grace].each { |page| await_names(page, "Ada,Grace") }
      assert_equal [[], []], [ada.complaints, grace.complaints]
    end
  end

  private

  def serve(&block)
    APP.open { APP.serve("upwell", "-b", "127.0.0.1", "-p", "0", "-w", "2", *DRAIN, &block) }
  end

  # Ada, and Grace by another worker.
  def with_two_people(**settings)
    with_pages do |url, browser, server|
      ada = enter(browser, url, "Ada")
      grace = enter(browser, url, "Grace", **settings)
      on_two_workers(grace, ada)
      [ada, grace].each { |page| await_names(page, "Ada,Grace") }
      yield ada, grace, server
    end
  end

  def enter(browser, url, name, **settings)
    page = browser.page(url, **settings)
    page.click("#name")
    page.type(name)
    page.await_text(".mine b", name)
    page
  end

  def await_names(page, names)
    page.await("#{NAMES} === #{names.to_json}")
  end
end
