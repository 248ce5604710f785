// Accessibility barriers of a page.
import axe from 'axe-core';

/** The violations of any rule of axe. Menus and tooltips are in no landmark, but at the end of the body, so that nothing cuts them off. */
export async function barriers(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => {
    window.axe.configure({ checks: [{ id: 'region', options: { regionMatcher: 'dialog, [role=dialog], [role=alertdialog], svg, [data-portal]' } }] });
    return window.axe.run({ resultTypes: ['violations'], preload: false });
  });
  return violations.flatMap(({ id, nodes }) => nodes.slice(0, 4).map((one) => `${id}: ${one.html.slice(0, 160)} ${one.any[0]?.message ?? ''}`));
}

/** Roles that mean little without a name. */
const named = /^(alertdialog|button|checkbox|combobox|complementary|dialog|form|link|listbox|menu|menuitem|navigation|option|progressbar|radio|radiogroup|region|searchbox|switch|tab|tablist|textbox|toolbar|tree|treeitem)$/;

/** What a screen reader would read badly: no name, a space before punctuation, identifiers of the program. */
export async function misread(page) {
  const tree = await page.locator('body').ariaSnapshot();
  return tree.split('\n').map((line) => line.trim()).filter((line) => {
    const [, role, name = ''] = /^- '?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?/.exec(line) ?? [];
    return named.test(role) && (name === '' || / [,:;.](\s|$)/.test(name)) || /add-trigger|add-first|undefined|\[object/.test(name);
  });
}

/** The rows of tables whose texts of one line do not stand on one line, with the texts and their middles. */
export const crooked = (page) => page.evaluate(() => {
  // The visible texts of a cell, as boxes.
  const boxes = (cell) => {
    const found = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { parentElement: element } = texts.currentNode;
      if (texts.currentNode.data.trim() === '' || element.offsetWidth <= 1) continue;
      const range = document.createRange();
      range.selectNodeContents(texts.currentNode);
      found.push(...range.getClientRects());
    }
    return found;
  };
  return [...document.querySelectorAll('main tbody tr')].flatMap((row) => {
    const lines = [...row.children].flatMap((cell) => {
      const all = boxes(cell);
      const [top, bottom] = [Math.min(...all.map((box) => box.top)), Math.max(...all.map((box) => box.bottom))];
      const tall = [...cell.querySelectorAll('*')].some((one) => one.getBoundingClientRect().height > 36); // such as bars below
      return all.length > 0 && bottom - top < 24 && !tall ? [{ text: cell.innerText.trim().slice(0, 20), middle: (top + bottom) / 2 }] : [];
    });
    const middles = lines.map(({ middle }) => middle);
    return Math.max(...middles) - Math.min(...middles) > 1 ? [lines.map(({ text, middle }) => `${text} at ${middle.toFixed(2)}`).join(', ')] : [];
  });
});

/** The number of pixels by which the page is wider than the screen. */
export const wider = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
