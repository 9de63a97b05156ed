# frozen_string_literal: true

require "fileutils"

# A page of Chromium's, and what a person does with it.
class ChromiumPage
  SCREENSHOTS = File.expand_path("../../tmp/browser", __dir__)
  AWAIT_MAX = 60 # seconds
  LOOK_EVERY = 0.02
  NOTE_COMPLAINTS = <<~JAVASCRIPT
    window.complaints = []
    for (const name of ["error", "unhandledrejection"]) addEventListener(name, (event) => complaints.push(String(event.message || event.reason)))
    for (const name of ["error", "warn"]) console[name] = new Proxy(console[name], {
      apply(tell, self, all) { complaints.push(all.join(" ")); tell.apply(self, all) }
    })
  JAVASCRIPT

  def initialize(browser, session, size:, dark:, phone:)
    @browser = browser
    @session = session
    call("Page.enable")
    call("Emulation.setFocusEmulationEnabled", enabled: true)
    call("Emulation.setDeviceMetricsOverride", width: size[0], height: size[1], deviceScaleFactor: phone ? 2 : 1, mobile: phone)
    call("Emulation.setTouchEmulationEnabled", enabled: true) if phone
    call("Emulation.setEmulatedMedia", features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }])
    call("Page.addScriptToEvaluateOnNewDocument", source: NOTE_COMPLAINTS)
  end

  def visit(url)
    call("Page.navigate", url: url)
    await("document.readyState === 'complete' && location.href.startsWith(#{url.to_json})")
  end

  # @return [Object] what the JavaScript expression is
  def value(expression)
    result = call("Runtime.evaluate", expression: expression, returnByValue: true, awaitPromise: true)
    raise "#{expression}: #{result["exceptionDetails"]}" if result["exceptionDetails"]

    result["result"]["value"]
  end

  # Waits until the expression is true.
  def await(expression)
    Timeout.timeout(AWAIT_MAX) { sleep LOOK_EVERY until value(expression) }
  rescue Timeout::Error
    raise "#{expression} did not become true:\n#{value("document.body.innerText")}"
  end

  def text(selector)
    value("document.querySelector(#{selector.to_json})?.innerText")
  end

  def await_text(selector, text)
    await("[...document.querySelectorAll(#{selector.to_json})].some((each) => each.textContent.includes(#{text.to_json}))")
  end

  def click(selector)
    drag [value("(({ x, y, width, height }) => [x + width / 2, y + height / 2])(" \
                "document.querySelector(#{selector.to_json}).getBoundingClientRect())")]
  end

  # Types into what has the focus.
  def type(text)
    call("Input.insertText", text: text)
  end

  def enter
    call("Input.dispatchKeyEvent", type: "keyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r")
    call("Input.dispatchKeyEvent", type: "keyUp", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13)
  end

  # Presses the mouse at the first point, and lets it go at the last.
  #
  # @param points [Array<Array(Numeric, Numeric)>] in pixels of the page
  def drag(points)
    mouse("mousePressed", points.first, true)
    points.drop(1).each { |point| mouse("mouseMoved", point, true) }
    mouse("mouseReleased", points.last, false)
  end

  # The same with a finger.
  def swipe(points)
    touch("touchStart", [points.first])
    points.drop(1).each { |point| touch("touchMove", [point]) }
    touch("touchEnd", [])
  end

  # @return [Array<String>]
  def complaints
    value("complaints")
  end

  def screenshot(name)
    FileUtils.mkdir_p(SCREENSHOTS)
    File.binwrite(File.join(SCREENSHOTS, "#{name}.png"), call("Page.captureScreenshot", format: "png")["data"].unpack1("m"))
  end

  private

  def touch(type, points)
    call("Input.dispatchTouchEvent", type: type, touchPoints: points.map { |x, y| { x: x, y: y } })
  end

  def mouse(type, point, held)
    call("Input.dispatchMouseEvent", type: type, x: point[0], y: point[1], button: "left", buttons: held ? 1 : 0, clickCount: 1)
  end

  def call(method, **parameters)
    @browser.call(method, @session, **parameters)
  end
end
