import axe from 'axe-core'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** The violations of any impact in a page, one line for each element. */
export const violationsOf = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source)
  const { violations } = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as AxeResults
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target, html, failureSummary }) =>
      [impact, id, target.join(' '), html.slice(0, 200), failureSummary?.split('\n')[1]?.trim()].join(' | '),
    ),
  )
}
