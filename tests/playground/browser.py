"""Chromium without a window, driven through two pipes (the DevTools protocol, messages that end with a zero byte).

    with Browser(width=800, height=900, dark=True) as browser:
        browser.open('file:///.../playground.html#seed=1')
        browser.evaluate('document.title')
        browser.screenshot('page.png')
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

CHROMIUM = next((path for path in map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome')) if path), None)


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        self.size, self.dark = (width, height), dark

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def as_three_and_four():
            # Copies first: one of the two may be 3 or 4 already.
            a, b = os.dup(to_read), os.dup(to_write)
            a, b = (os.dup(a), os.dup(b)) if a < 5 or b < 5 else (a, b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, '--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-pipe',
             '--user-data-dir=' + self.profile.name, '--window-size=%d,%d' % self.size, 'about:blank'],
            preexec_fn=as_three_and_four, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.log = b'', 0, None, []
        target = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        self.call('Page.enable')
        self.call('Runtime.enable')
        self.call('Network.enable')
        self.call('Emulation.setFocusEmulationEnabled', enabled=True)
        self.call('Emulation.setDeviceMetricsOverride', width=self.size[0], height=self.size[1], deviceScaleFactor=1, mobile=False)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if self.dark else 'light'}])
        return self

    def __exit__(self, *_):
        os.close(self.to)  # ends it
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.back)
        self.profile.cleanup()

    def receive(self):
        while b'\0' not in self.buffer:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise RuntimeError('chromium has ended')
            self.buffer += part
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self.receive()
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(method + ': ' + answer['error']['message'])
                return answer['result']
            self.log.append(answer)

    def open(self, url):
        self.call('Page.navigate', url=url)
        self.wait("document.readyState == 'complete' && typeof page !== 'undefined' && page && views.length == 2 && views[1].widths")

    def evaluate(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(expression + ': ' + str(answer['exceptionDetails'].get('exception', answer)))
        return answer['result'].get('value')

    def wait(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.evaluate('!!(' + condition + ')'):
                return
            time.sleep(0.05)
        raise RuntimeError('after %d seconds: not %s; %s' % (seconds, condition, self.evaluate('document.body.innerText')[:600]))

    def key(self, key, code=None, text=None):
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode={'Tab': 9, 'Enter': 13, 'ArrowUp': 38, 'ArrowDown': 40, 'ArrowRight': 39}.get(key, 0),
                      **({'text': text} if text and kind == 'keyDown' else {}))

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def problems(self):
        """Exceptions and errors of the page, and what it asked of a network."""
        found = []
        for event in self.log:
            name, about = event.get('method'), event.get('params', {})
            if name == 'Runtime.exceptionThrown':
                found.append(about['exceptionDetails'].get('exception', {}).get('description', 'an exception'))
            if name == 'Runtime.consoleAPICalled' and about['type'] in ('error', 'warning'):
                found.append(str(about['args']))
            if name == 'Network.requestWillBeSent' and not about['request']['url'].startswith(('file:', 'data:', 'about:')):
                found.append('asked for ' + about['request']['url'])
        return found

    def screenshot(self, path, whole=True):
        size = self.call('Page.getLayoutMetrics')['cssContentSize']
        image = self.call('Page.captureScreenshot', captureBeyondViewport=True,
                          clip={'x': 0, 'y': 0, 'width': self.size[0], 'height': size['height'] if whole else self.size[1], 'scale': 1})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(image['data']))
