// Accessibility barriers of a page.
import axe from 'axe-core';

/** The serious violations that axe finds. */
export async function barriers(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ['violations'], preload: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) => nodes.slice(0, 4).map((one) => `${id}: ${one.html.slice(0, 160)} ${one.any[0]?.message ?? ''}`));
}

/** The number of pixels by which the page is wider than the screen. */
export const wider = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
