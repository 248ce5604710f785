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

/** The number of pixels by which the page is wider than the screen. */
export const wider = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
