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

/** The number of pixels by which the page is wider than the screen. */
export const wider = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
