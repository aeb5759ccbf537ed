import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import type { ReportForm } from '../config-tests/run-files.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const test = defineCommand({
  name: 'test',
  summary: 'run the tests of a config, without a gateway and without a network',
  usage: '[file or folder ...] [options] | --record <count> [gateway/<name>] [options]',
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
    record: {
      kind: 'value',
      value: '<count>',
      summary: 'write tests from so many records of a running gateway, the newest ones, instead of running tests',
    },
    config: {
      kind: 'value',
      value: '<path>',
      summary: 'with --record: the config of the gateway; that of a standalone gateway on this machine when unset',
      isPath: true,
    },
    to: {
      kind: 'value',
      value: '<path>',
      summary: 'with --record: the file to write (default recorded.test.yaml), or - for standard output',
      fallback: 'recorded.test.yaml',
      isPath: true,
    },
    gateway: {
      kind: 'value',
      value: '<namespace/name>',
      summary: 'with --record: the Gateway to use, of manifests with several',
    },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `Runs the requests of *.test.yaml files through the config that each file names, in this process: with the code of
the gateway, a clock that stands still, empty counters, and the upstreams that the file describes. Of a folder, all
*.test.yaml files are run; without operands, those of the current folder.

A test that depends on something that the file does not describe, such as the answer of an upstream, fails: it proves
nothing. docs/testing-configs.md explains the files.

With --record, tests are written from the newest records of a gateway: each states a recorded request, with its secrets
replaced, and the recorded outcome. Only tests that pass with the config are written; the reason for each other record is
printed.

Exit codes: 0 all tests passed, 1 a test failed or could not run, 2 bad usage.

  porticoctl test
  porticoctl test gateway.test.yaml --filter support
  porticoctl test config/ --coverage --min 80 -o junit
  porticoctl test --record 20
  porticoctl test --record 20 gateway/web -n shop --config manifests/ --to web.test.yaml
`,
  async run({ options, operands, afterDashes, io }) {
    const { output, min, filter, watch, coverage, record } = options
    const given = [...operands, ...(afterDashes ?? [])]
    const problem = problemOf(output, min) ?? recordProblem(options)
    const badUsage = (text: string): number => {
      io.stderr.write(`porticoctl test: ${printable(text)}\n(porticoctl test --help shows how)\n`)
      return exitCode.badUsage
    }
    if (problem !== null) return badUsage(problem)
    if (record !== null) {
      const { admin, adminToken: token, config, gateway, to } = options
      const source = planSource({ local: given.length === 0, admin, operands: given })
      if (!source.ok) return badUsage(source.problem)
      const { writeRecordedTests } = await import('../config-tests/record-tests.ts')
      return writeRecordedTests(
        { from: source.value, cluster: options, token, count: Number(record), config, gateway, to },
        io,
      )
    }
    // The whole gateway is loaded only when needed.
    const { runFiles } = await import('../config-tests/run-files.ts')
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

interface RecordOptions {
  record: string | null
  adminToken: string | null
  gateway: string | null
  config: string | null
}

function recordProblem({ record, adminToken, gateway, config }: RecordOptions): string | null {
  if (record === null) {
    const [name] = [config === null ? null : '--config', gateway === null ? null : '--gateway'].filter(Boolean)
    return name === undefined ? null : `${name} is for --record`
  }
  if (!/^[0-9]{1,4}$/.test(record) || Number(record) < 1 || Number(record) > MOST_RECORDS) {
    return `found --record ${JSON.stringify(record)}, expected a number from 1 to ${MOST_RECORDS}`
  }
  if (gateway !== null && !/^[^/]+\/[^/]+$/.test(gateway)) {
    return `found Gateway ${JSON.stringify(gateway)}, expected <namespace>/<name>`
  }
  return tokenProblem(adminToken)
}

const MOST_RECORDS = 1_000

function problemOf(output: string, min: string | null): string | null {
  if (!['text', 'tap', 'junit', 'json'].includes(output)) {
    return `found output ${JSON.stringify(output)}, expected text, tap, junit or json`
  }
  if (min === null || (/^\d{1,3}$/.test(min) && Number(min) <= 100)) return null
  return `found --min ${JSON.stringify(min)}, expected a number from 0 to 100`
}
