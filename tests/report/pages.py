"""What a test does with a page that a browser shows."""


def window(browser, width=1400, scheme="light", media=""):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def visible(browser, selector):
    return [e for e in browser.find_elements("css selector", selector) if e.is_displayed()]


def press(browser, *keys):
    from selenium.webdriver import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def find(browser, text):
    field = browser.find_element("id", "find")
    field.clear()
    field.send_keys(text)


def focused(browser):
    return browser.execute_script("return document.activeElement.id")
