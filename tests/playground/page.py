#!/usr/bin/env python3
"""What the page does in Chromium.

    tests/playground/page.py losses PAGE                      the losses of trainings, for test_playground_page.c
    tests/playground/page.py use PAGE                         uses it as a reader would; fails with a sentence
    tests/playground/page.py picture PAGE FILE [WIDTH [HEIGHT [dark]]]      HEIGHT 0: all of it
"""
import os
import sys
import time

from browser import Browser

STEPS, MOST_STEPS, FRAME_MS = 200, 1000, 33


def losses(url):
    with Browser() as browser:
        browser.open(url + '#run=no')
        for line in browser.evaluate('''(() => {
            const lines = [];
            const train = (data, activation, optimizer) => {
                lib.playground_hold_out(page, 0);
                lib.playground_draw(page, data, 300, -1, 1);
                lib.playground_net(page, 0, activation, 2, 16, optimizer, lib.playground_rate(optimizer), 1);
                const losses = Array.from({length: %d}, () => lib.playground_train(page, 0, 1));
                lines.push([lists[0][data], lists[1][activation], lists[2][optimizer], ...losses].join(" "));
            };
            lists[0].forEach((_, data) => train(data, 0, 0));
            lists[1].forEach((_, activation) => train(0, activation, 0));
            lists[2].forEach((_, optimizer) => train(0, 0, optimizer));
            return lines;
        })()''' % STEPS):
            print(line)


def expect(condition, sentence):
    if not condition:
        sys.exit(sentence)


def use(url):
    learns(url)
    follows_links(url)
    takes_points(url)
    shows_the_tape(url)
    checks_gradients(url)
    predicts_numbers(url)
    for width in (400, 800, 1280):
        fits(url, width)


def learns(url):
    """At the default settings, while it draws."""
    with Browser(1280, 900) as browser:
        browser.open(url)
        browser.wait('views.every((v) => v.steps >= %d)' % MOST_STEPS, 120)
        accuracy = browser.evaluate('[0, 1].map((i) => lib.playground_accuracy(page, i, 0))')
        expect(min(accuracy) >= 0.99, 'after %d steps the accuracies are %s' % (MOST_STEPS, accuracy))
        slow = min(slow_frame(browser) for _ in range(3))  # others may use this machine
        expect(slow < FRAME_MS, 'one frame in twenty takes more than %.1f ms' % slow)
        expect(not browser.problems(), browser.problems())
        colours = browser.evaluate('''(() => {
            const c = views[0].canvas("boundary"), g = c.getContext("2d"), seen = new Set();
            const bytes = g.getImageData(0, 0, c.width, c.height).data;
            for (let k = 0; k < bytes.length; k += 4) seen.add(bytes.slice(k, k + 3).join());
            return seen.size;
        })()''')
        expect(colours > 50, 'the boundary has %d colours' % colours)


def slow_frame(browser):
    """Milliseconds of work that 95 % of the next frames do not exceed."""
    browser.evaluate('frames.length = 0')
    browser.wait('frames.length >= 200', 120)
    frames = sorted(browser.evaluate('frames'))
    return frames[int(0.95 * len(frames))]


def follows_links(url):
    said = '#data=moons&points=120&noise=0.2&test=50&seed=7&a=swiglu,3,9,sgd,0.05,32,L1,0.01&b=tanh,1,20,lion,0.002,0,none,0.001'
    with Browser(800, 900) as browser:
        browser.open(url + said)
        expect(browser.evaluate('location.hash') == said, 'the link became ' + browser.evaluate('location.hash'))
        values = browser.evaluate('[$("data").value, count(), views[0].at("activation").value, views[1].at("width").value]')
        expect(values == ['moons', 120, 'swiglu', '20'], 'a link makes %s' % values)
        browser.evaluate('views[0].at("depth").value = 4; views[0].at("depth").dispatchEvent(new Event("change"))')
        expect('a=swiglu,4,9,sgd,0.05,32,L1,0.01' in browser.evaluate('location.hash'), 'a choice is not in the link')
        expect(browser.evaluate('views[0].widths.length') == 4, 'the net has another depth than was chosen')
    with Browser(800, 900) as browser:
        browser.open(url + '#data=nonsense&points=-5&a=,,,&b=relu,999,-1,adamw,NaN')
        expect(browser.evaluate('settings.nets[1].depth') == 6, 'a nonsensical link is not limited')
        expect(not browser.problems(), browser.problems())


def takes_points(url):
    with Browser(800, 900) as browser:
        browser.open(url + '#data=own&own=0.5,0.5,0;-0.5,-0.5,1')
        expect(browser.evaluate('count()') == 2, 'points of a link are missing')
        box = browser.evaluate('''(() => { const c = views[0].canvas("boundary"); c.scrollIntoView();
                                   const b = c.getBoundingClientRect(); return [b.left, b.top, b.width]; })()''')
        browser.click(box[0] + box[2] * 0.75, box[1] + box[2] * 0.25)
        point = browser.evaluate('Array.from(floats(lib.playground_points(page), 2 * count())).slice(4)')
        expect(len(point) == 2 and max(abs(v - 0.5) for v in point) < 0.01, 'a click at (1/2, 1/2) makes the point %s' % point)
        browser.evaluate('views[1].canvas("boundary").focus()')
        browser.key('ArrowRight')
        browser.key('Enter', text='\r')
        expect(browser.evaluate('count()') == 4, 'the keyboard adds no point')
        browser.evaluate('$("clear").click()')
        expect(browser.evaluate('count()') == 0, 'points remain')
        expect(browser.evaluate('[$("points").value, settings.points]') == ['0', 300], 'the number of points is wrong')
        time.sleep(0.3)
        expect(not browser.problems(), browser.problems())


def shows_the_tape(url):
    with Browser(800, 900) as browser:
        browser.open(url + '#run=no&a=relu,1,4,adamw,0.01')
        operations = browser.evaluate('tape.map((node) => node.words[0])')
        expect('cross_entropy loss' in operations and 'relu' in operations, 'the tape has %s' % operations)
        browser.evaluate('$("tape").querySelector("li").focus()')
        for _ in range(operations.index('relu')):
            browser.key('ArrowDown')
        said = browser.evaluate('$("tensor").textContent')
        expect('relu, f32[226, 4]: 904 elements from 0 to' in said and 'Gradient of the loss' in said, 'the tape says ' + said)


def checks_gradients(url):
    with Browser(800, 900) as browser:
        browser.open(url + '#run=no')
        browser.evaluate('$("step").click(); $("check").click()')
        least = browser.evaluate('Math.min(...check.slice(48, 96))')
        expect(least < 1e-7, 'the smallest error of the differences is %g' % least)
        expect('agree' in browser.evaluate('$("verdict").textContent'), browser.evaluate('$("verdict").textContent'))


def predicts_numbers(url):
    """The hills, in batches: both nets are drawn after equal steps, with R2 of points for testing; a click begins classes."""
    with Browser(800, 900) as browser:
        browser.open(url + '#data=hills&noise=0.05&a=gelu_exact,2,16,adamw,0.01,32&b=relu,2,16,adamw,0.01,32,L2,0.0001')
        browser.wait('views.every((v) => v.steps >= %d)' % MOST_STEPS, 120)
        browser.evaluate('$("run").click(); 0')
        steps, scores = browser.evaluate('["steps", "test-accuracy"].map((name) => views.map((v) => v.at(name).textContent))')
        expect(steps[0] == steps[1], 'the nets are drawn after %s steps' % steps)
        expect(min(map(float, scores)) > 0.8, 'R2 of the points for testing is %s' % scores)
        expect('Mean squared error' in browser.evaluate('$("measure").textContent'), browser.evaluate('$("measure").textContent'))
        browser.evaluate('addPoint(0, 0, false)')
        expect(browser.evaluate('[count(), settings.data, regresses()]') == [1, 'own', False], 'a point does not begin classes')
        expect(not browser.problems(), browser.problems())


def fits(url, width):
    with Browser(width, 900, dark=width == 800) as browser:
        browser.open(url + '#run=no')
        expect(browser.evaluate('document.documentElement.scrollWidth') <= width, 'at %d pixels the page scrolls sideways' % width)
        bare = browser.evaluate('''[...document.querySelectorAll("select, input, button")].filter((e) =>
            !(e.textContent.trim() && e.tagName == "BUTTON") && !e.labels?.length).map((e) => e.outerHTML)''')
        expect(not bare, 'without a label: %s' % bare)


def picture(url, path, width='1280', height='0', scheme='light'):
    with Browser(int(width), int(height) or 900, scheme == 'dark') as browser:
        browser.open(url)
        browser.wait('views[0].steps >= 300')
        browser.evaluate('$("run").click(); $("check").click(); showTensor(9); 0')
        time.sleep(0.2)
        browser.screenshot(path, whole=height == '0')


if __name__ == '__main__':
    {'losses': losses, 'use': use, 'picture': picture}[sys.argv[1]]('file://' + os.path.abspath(sys.argv[2]), *sys.argv[3:])
