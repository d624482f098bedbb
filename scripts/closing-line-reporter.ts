import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'

/**
 * Ends a test run with one plain line, `N passed, N failed[, N skipped]`, which a person or a script finds
 * without reading the rest. Before it stands one line for each test that did not run, with the reason.
 */
// oxlint-disable-next-line import/no-default-export -- vitest takes a reporter from the default export
export default class ClosingLineReporter implements Reporter {
  #vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    for (const line of closingLines(modules, unhandledErrors.length)) this.#vitest?.logger.log(line)
  }
}

function closingLines(modules: readonly TestModule[], unhandledErrors: number): readonly string[] {
  const notRun: string[] = []
  let passed = 0
  let failed = unhandledErrors
  for (const module of modules) {
    // A file that does not load, or a hook that throws, takes its tests out of the count: it counts itself.
    failed += [module, ...module.children.allSuites()].filter((group) => group.errors().length > 0).length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') passed += 1
      else if (state === 'failed') failed += 1
      else notRun.push(`not run: ${onOneLine(test.fullName)} (${onOneLine(reasonOf(test))})`)
    }
  }
  const skipped = notRun.length === 0 ? '' : `, ${notRun.length} skipped`
  return [...notRun, `${passed} passed, ${failed} failed${skipped}`]
}

function reasonOf(test: TestCase): string {
  const result = test.result()
  if (result.state === 'pending') return 'the run stopped before it'
  if (result.state === 'skipped' && result.note !== undefined) return result.note
  if (hasBrokenParent(test)) return 'a hook or the file around it failed'
  return 'left out by a filter or by a mark in its file'
}

function hasBrokenParent(test: TestCase): boolean {
  let group: TestSuite | TestModule = test.parent
  while (group.type === 'suite') {
    if (group.errors().length > 0) return true
    group = group.parent
  }
  return group.errors().length > 0
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
