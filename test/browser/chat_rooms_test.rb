# frozen_string_literal: true

require_relative "example_page_test_case"

# examples/chat_rooms, as two people see it.
class ChatRoomsTest < ExamplePageTestCase
  EXAMPLE = "chat_rooms"

  def test_two_people_talk
    with_pages do |url, browser|
      ada = enter(browser, url, "Ada")
      grace = enter(browser, url, "Grace", dark: true, phone: true, size: [390, 780])
      on_two_workers(grace, ada)

      ada.await_text("#here", "Grace")
      say(ada, "Good morning! Is anybody here?")
      grace.await_text("#messages", "Good morning!")
      say(grace, "I am, by another worker of the same server.")
      say(grace, "How does that work?")
      ada.await_text("#messages", "How does that work?")
      say(ada, "What is said is published, and the core of each worker hands it to everyone who is in the room: no Ruby runs for it.")
      grace.await_text("#messages", "no Ruby runs for it")
      [ada, grace].each { |page| page.await("!document.querySelector('.unsent')") }
      ada.screenshot("chat_rooms_light")
      grace.screenshot("chat_rooms_phone_dark")
      assert_equal [[], []], [ada.complaints, grace.complaints]
    end
  end

  def test_the_room_remembers
    with_pages do |url, browser|
      ada = enter(browser, url, "Ada")
      60.times { |number| say(ada, "message #{number}.") }
      ada.await_text("#messages", "message 59.")
      ada.await("!document.querySelector('.unsent')")

      late = enter(browser, url, "Late", dark: true)
      late.await_text("#messages", "message 59.")
      assert_equal 50, late.value("document.querySelectorAll('#messages li').length")
      late.screenshot("chat_rooms_dark")
      late.value("location.hash = 'kitchen'")
      late.await_text("#room", "kitchen")
      late.await("!document.body.matches('.away') && document.querySelectorAll('#messages li').length === 0")
      ada.await_text("#count", "only you")
    end
  end

  # What is said while the server is away is said when it is back.
  def test_it_connects_again
    with_pages do |url, browser, server|
      ada = enter(browser, url, "Ada")
      server.workers.each { |pid| Process.kill("KILL", pid) }
      ada.await("document.body.matches('.away')")
      say(ada, "still here?")
      ada.await("document.querySelector('#messages li:not(.unsent)')?.innerText.includes('still here?')")
      ada.await_text("#count", "only you") # the guest of the worker that was killed is not
    end
  end

  def test_the_first_page
    with_pages do |url, browser|
      browser.page(url, dark: false).screenshot("chat_rooms_first")
    end
  end

  private

  def enter(browser, url, name, **settings)
    page = browser.page(url, **settings)
    page.await("document.querySelector('#who').open")
    page.click("#name")
    page.type(name)
    page.enter
    page.await_text("#here", name)
    page
  end
end
