import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import type { BacktestForm } from '../backtest/backtest-config.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, type Source, tokenProblem } from '../trace/source.ts'

export const backtest = defineCommand({
  name: 'backtest',
  summary: 'decide recorded requests with another config, and show which decisions flip',
  usage: '-f <config> [gateway/<name> | --records <file>] [options]',
  options: {
    file: {
      kind: 'value',
      short: 'f',
      value: '<path>',
      summary: 'the new config: a file, or a file or folder of manifests',
      isPath: true,
    },
    before: {
      kind: 'value',
      value: '<path>',
      summary: 'the config that decided the records; that of a standalone gateway on this machine when unset',
      isPath: true,
    },
    records: {
      kind: 'value',
      value: '<path>',
      summary: 'exported records, as /api/requests/download has them, instead of a gateway',
      isPath: true,
    },
    last: { kind: 'value', value: '<time>', summary: 'how far back: 15m, 1h (default), 2d', fallback: '1h' },
    limit: { kind: 'value', value: '<count>', summary: 'at most so many records (default 5000)', fallback: '5000' },
    failOn: {
      kind: 'value',
      value: '<kinds>',
      summary: 'fail at flips of these kinds, such as newly-denied,route-moved; or any, or unknown',
    },
    gateway: { kind: 'value', value: '<namespace/name>', summary: 'the Gateway to use, of manifests with several' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default), json or sarif', fallback: 'text' },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `Sends the recorded requests of a gateway through the new config in this process, in the order in which they came:
nothing is sent to a backend, and the gateway changes nothing. Without gateway/<name> and --records, the records are those
of the standalone gateway at --admin.

Kinds of flips: newly-denied, newly-limited, newly-failed, newly-admitted, denied-differently, route-moved, backend-moved,
path-changed, headers-changed, model-changed, price-changed. A request whose decision depends on something that its record
does not hold is unknown: it counts neither as alike nor as a flip. docs/backtest.md says more.

Exit codes: 0 done, 1 a flip of --fail-on or no records, 2 bad usage.

  porticoctl backtest -f new.yaml --last 1h
  porticoctl backtest -f new.yaml --before gateway.yaml --records requests.jsonl --fail-on newly-denied
  porticoctl backtest -f manifests/ gateway/web -n shop -o sarif > backtest.sarif
`,
  async run({ options, operands, afterDashes, io }) {
    const given = [...operands, ...(afterDashes ?? [])]
    const { file, records, limit, failOn, output, adminToken: token, last, admin } = options
    const source = records === null ? planSource({ local: given.length === 0, admin, operands: given }) : null
    const problem =
      (source?.ok === false ? source.problem : null) ??
      (records !== null && given.length > 0 ? `found ${JSON.stringify(given[0])}, and --records names a file` : null) ??
      problemOf({ file, output, limit, last, gateway: options.gateway }) ??
      tokenProblem(token)
    const [kinds, badKind] = await failureKinds(failOn)
    if (problem !== null || badKind !== null || file === null) {
      const text = printable(problem ?? badKind ?? '')
      io.stderr.write(`porticoctl backtest: ${text}\n(porticoctl backtest --help shows how)\n`)
      return exitCode.badUsage
    }
    const from: Source | null = source?.ok === true ? source.value : null
    // The code of back-tests is loaded only when the command runs.
    const { backtestConfig } = await import('../backtest/backtest-config.ts')
    return backtestConfig(
      {
        ...{ file, before: options.before, records, last, token, from, cluster: options },
        ...{ limit: Number(limit), failOn: kinds, form: output as BacktestForm, gateway: options.gateway },
      },
      io,
    )
  },
})

interface CheckedOptions {
  file: string | null
  output: string
  limit: string
  last: string
  gateway: string | null
}

function problemOf({ file, output, limit, last, gateway }: CheckedOptions): string | null {
  if (file === null) return 'name the new config with -f <path>'
  if (!['text', 'json', 'sarif'].includes(output)) {
    return `found output ${JSON.stringify(output)}, expected text, json or sarif`
  }
  if (!/^[0-9]{1,6}$/.test(limit) || Number(limit) < 1 || Number(limit) > MOST_RECORDS) {
    return `found limit ${JSON.stringify(limit)}, expected a number from 1 to ${MOST_RECORDS}`
  }
  if (!/^[0-9]{1,6}[smhd]$/.test(last)) return `found --last ${JSON.stringify(last)}, expected a time such as 15m or 1h`
  if (gateway !== null && !/^[^/]+\/[^/]+$/.test(gateway)) {
    return `found Gateway ${JSON.stringify(gateway)}, expected <namespace>/<name>`
  }
  return null
}

/** Returns the kinds of flips that fail the run, or the problem with `--fail-on`. */
async function failureKinds(text: string | null): Promise<[readonly string[], null] | [null, string]> {
  if (text === null) return [[], null]
  const { FLIP_KINDS } = await import('@portico/gateway/backtest')
  const known: readonly string[] = [...FLIP_KINDS, 'any', 'unknown']
  const kinds = text.split(',')
  const wrong = kinds.find((kind) => !known.includes(kind))
  if (wrong === undefined) return [kinds, null]
  return [null, `found --fail-on ${JSON.stringify(wrong)}, expected ${known.join(', ')}`]
}

const MOST_RECORDS = 100_000
