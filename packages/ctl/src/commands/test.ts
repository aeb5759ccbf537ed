import { defineCommand } from '../command.ts'
import type { ReportForm } from '../config-tests/run-files.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'

export const test = defineCommand({
  name: 'test',
  summary: 'run the tests of a config, without a gateway and without a network',
  usage: '[file or folder ...] [options]',
  options: {
    filter: { kind: 'value', value: '<text>', summary: 'only tests whose name contains this text' },
    watch: { kind: 'flag', summary: 'run again after each change of a file' },
    coverage: {
      kind: 'flag',
      summary: 'list the routes, matches, rules, conditional forms and guards that no test reached',
    },
    min: { kind: 'value', value: '<percent>', summary: 'fail when the tests reach less of the config' },
    output: {
      kind: 'value',
      short: 'o',
      value: '<form>',
      summary: 'text (default), tap, junit or json',
      fallback: 'text',
    },
  },
  notes: `Runs the requests of *.test.yaml files through the config that each file names, in this process: with the code of
the gateway, a clock that stands still, empty counters, and the upstreams that the file describes. Of a folder, all
*.test.yaml files are run; without operands, those of the current folder.

A test that depends on something that the file does not describe, such as the answer of an upstream, fails: it proves
nothing. docs/testing-configs.md explains the files.

Exit codes: 0 all tests passed, 1 a test failed or could not run, 2 bad usage.

  porticoctl test
  porticoctl test gateway.test.yaml --filter support
  porticoctl test config/ --coverage --min 80 -o junit
`,
  async run({ options, operands, afterDashes, io }) {
    const { output, min, filter, watch, coverage } = options
    const problem = problemOf(output, min)
    if (problem !== null) {
      io.stderr.write(`porticoctl test: ${printable(problem)}\n(porticoctl test --help shows how)\n`)
      return exitCode.badUsage
    }
    // The whole gateway is loaded only when needed.
    const { runFiles } = await import('../config-tests/run-files.ts')
    const given = [...operands, ...(afterDashes ?? [])]
    return runFiles(
      {
        ...{ filter, isWatched: watch, hasCoverage: coverage, form: output as ReportForm },
        operands: given.length === 0 ? ['.'] : given,
        min: min === null ? null : Number(min),
      },
      io,
    )
  },
})

function problemOf(output: string, min: string | null): string | null {
  if (!['text', 'tap', 'junit', 'json'].includes(output)) {
    return `found output ${JSON.stringify(output)}, expected text, tap, junit or json`
  }
  if (min === null || (/^\d{1,3}$/.test(min) && Number(min) <= 100)) return null
  return `found --min ${JSON.stringify(min)}, expected a number from 0 to 100`
}
