// A person who uses the keyboard alone: every key leaves the focus on something that shows it.
import assert from 'node:assert/strict';

/** Returns what such a person does on a page. */
export function keyboardOf(page) {
  const press = (key) => page.keyboard.press(key);

  /** Moves the focus to an element with Tab (or backwards), as often as needed, up to a limit. */
  async function tabTo(target, key = 'Tab') {
    await target.first().waitFor();
    const passed = [];
    for (let count = 0; count < 80; count++) {
      const focus = await page.evaluate(focused);
      if (await target.first().evaluate((element) => element === document.activeElement)) {
        assert.ok(focus.shown, `the focus is invisible on ${focus.name}`);
        return;
      }
      if (count > 0) assert.ok(focus.name !== undefined, `the focus is lost after ${passed.join(' > ')}`);
      if (count > 0) assert.ok(focus.shown, `the focus is invisible on ${focus.name}`);
      passed.push(focus.name);
      await press(key);
    }
    assert.fail(`Tab does not reach ${target}; it passed ${passed.join(' > ')}`);
  }

  /** Waits until the focus is on something, such as after a dialog is closed. */
  const rests = () => page.waitForFunction(() => document.activeElement !== document.body);

  /** Waits until an element has the focus. */
  const has = (target) => target.and(page.locator(':focus')).waitFor();
  return { press, tabTo, rests, has, type: (text) => page.keyboard.type(text) };
}

// The focused element's name, undefined for the page itself, and whether anything shows that it has the focus.
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return {};
  const name = `${element.tagName.toLowerCase()} ${element.getAttribute('aria-label') || element.innerText || element.getAttribute('name') || element.id}`.slice(0, 60);
  // Headings get the focus after a navigation, for screen readers; they are not controls.
  let shown = /^h[1-6]$/i.test(element.tagName);
  for (let at = element, depth = 0; at && depth < 4; at = at.parentElement, depth++) {
    const style = getComputedStyle(at);
    shown ||= (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
  }
  return { name, shown };
}
