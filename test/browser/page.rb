# frozen_string_literal: true

require "fileutils"

# A page of Chromium's, and what a person does with it.
class Page
  SCREENSHOTS = File.expand_path("../../tmp/browser", __dir__)
  AWAIT_MAX = 8 # seconds: less than the client of the protocol waits for its answer

  def initialize(browser, session, size:, dark:, phone:)
    @browser = browser
    @session = session
    call("Page.enable")
    call("Emulation.setFocusEmulationEnabled", enabled: true)
    call("Emulation.setDeviceMetricsOverride", width: size[0], height: size[1], deviceScaleFactor: phone ? 2 : 1, mobile: phone)
    call("Emulation.setTouchEmulationEnabled", enabled: true) if phone
    call("Emulation.setEmulatedMedia", features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }])
    # What the page complains of.
    call("Page.addScriptToEvaluateOnNewDocument", source: "window.complaints = []; for (const name of ['error', 'unhandledrejection']) " \
                                                          "addEventListener(name, (event) => complaints.push(String(event.message || event.reason)))")
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
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + AWAIT_MAX
    until value(expression)
      raise "#{expression} did not become true: #{value("document.body.innerText")}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.02
    end
  end

  def text(selector)
    value("document.querySelector(#{selector.to_json})?.innerText")
  end

  def await_text(selector, text)
    await("[...document.querySelectorAll(#{selector.to_json})].some((each) => each.textContent.includes(#{text.to_json}))")
  end

  def click(selector)
    x, y = value("(() => { const box = document.querySelector(#{selector.to_json}).getBoundingClientRect(); " \
                 "return [box.x + box.width / 2, box.y + box.height / 2] })()")
    mouse("mousePressed", x, y)
    mouse("mouseReleased", x, y)
  end

  # Types into what has the focus.
  def type(text)
    call("Input.insertText", text: text)
  end

  def enter
    call("Input.dispatchKeyEvent", type: "keyDown", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r")
    call("Input.dispatchKeyEvent", type: "keyUp", key: "Enter", code: "Enter", windowsVirtualKeyCode: 13)
  end

  # Draws a line with the mouse.
  #
  # @param points [Array<Array(Numeric, Numeric)>] in pixels of the page
  def drag(points)
    mouse("mousePressed", *points.first)
    points.drop(1).each { |point| mouse("mouseMoved", *point, held: true) }
    mouse("mouseReleased", *points.last)
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

  def mouse(type, x, y, held: type != "mouseReleased")
    call("Input.dispatchMouseEvent", type: type, x: x, y: y, button: "left", buttons: held ? 1 : 0, clickCount: 1)
  end

  def call(method, **parameters)
    @browser.call(method, @session, **parameters)
  end
end
