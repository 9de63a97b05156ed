# frozen_string_literal: true

require_relative "example_page_test_case"

# examples/drawing, as two people see it.
class DrawingTest < ExamplePageTestCase
  EXAMPLE = "drawing"
  PICTURE = "document.querySelector('canvas').toDataURL()"
  INK = "new Uint32Array(document.querySelector('canvas').getContext('2d').getImageData(0, 0, 1600, 1000).data.buffer).some(Boolean)"
  DIFFERENCE_MAX = 20 # pixels: edges are smoothed differently, now and then
  # How many pixels are visibly others than those of a picture.
  DIFFERENCE = <<~JAVASCRIPT
    (async (url) => {
      const image = new Image(), copy = document.createElement("canvas"), mine = document.querySelector("canvas")
      image.src = url
      await image.decode()
      Object.assign(copy, { width: 1600, height: 1000 }).getContext("2d").drawImage(image, 0, 0)
      const [a, b] = [mine, copy].map((canvas) => canvas.getContext("2d").getImageData(0, 0, 1600, 1000).data)
      return a.filter((value, index) => index % 4 === 3 && Math.abs(value - b[index]) > 64).length
    })
  JAVASCRIPT

  def test_they_see_the_same
    with_pages do |url, browser|
      first = open_board(browser, url)
      second = open_board(browser, url)
      on_two_workers(second, first)
      paint_sun(first)
      paint_hills(second)
      assert_same_shape(first, second)

      late = open_board(browser, url)
      assert_same_shape(late, first)
      late.screenshot("drawing_light")
      phone = open_board(browser, url, dark: true, phone: true, size: [390, 780])
      phone.swipe((0..20).map { |step| [60 + (step * 3), 200 + (step % 2 * 12)] })
      [late, first].each { |page| assert_same_shape(page, phone) }
      phone.screenshot("drawing_phone_dark")
      open_board(browser, url, dark: true).tap { |dark| dark.await(INK) }.screenshot("drawing_dark")

      second.click("#wipe")
      [first, late].each { |page| page.await("!(#{INK})") }
      assert_equal [[], []], [first.complaints, second.complaints]
    end
  end

  def test_the_empty_board
    with_pages do |url, browser|
      open_board(browser, url).screenshot("drawing_empty")
    end
  end

  private

  def open_board(browser, url, **settings)
    browser.page(url, **settings).tap { |page| worker(page) }
  end

  def assert_same_shape(one, other)
    one.await(INK)
    Timeout.timeout(ChromiumPage::AWAIT_MAX) { sleep ChromiumPage::LOOK_EVERY until difference(one, other) < DIFFERENCE_MAX }
  rescue Timeout::Error
    [one, other].each_with_index { |page, index| page.screenshot("drawing_differs_#{index}") }
    flunk "the pictures differ"
  end

  def difference(one, other)
    one.value("#{DIFFERENCE}(#{other.value(PICTURE).to_json})")
  end

  def choose(page, colour, width)
    page.click("[title=#{colour}]")
    page.click("[title='#{width} pixels']")
  end

  def paint_sun(page)
    choose(page, "yellow", 44)
    page.drag(circle(880, 260, 28))
    choose(page, "orange", 8)
    page.drag(circle(880, 260, 62))
    12.times { |ray| page.drag([75, 100].map { |radius| around(880, 260, radius, ray / 12.0) }) }
  end

  def paint_hills(page)
    [["green", 18, 560], ["turquoise", 18, 610], ["blue", 44, 680]].each do |colour, width, height|
      choose(page, colour, width)
      page.drag((60..1140).step(20).map { |across| [across, height + (40 * Math.sin((across + (height * 7)) / 110.0))] })
    end
    choose(page, "ink", 3)
    page.drag((0..60).map { |step| [250 + (step * 5), 300 - (30 * Math.sin(step / 3.0).abs)] })
  end

  def circle(across, down, radius)
    (0..40).map { |step| around(across, down, radius, step / 40.0) }
  end

  def around(across, down, radius, part)
    [across + (radius * Math.cos(part * 2 * Math::PI)), down + (radius * Math.sin(part * 2 * Math::PI))]
  end
end
