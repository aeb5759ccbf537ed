import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const usage = defineCommand({
  name: 'usage',
  summary: 'add up calls, tokens and costs of the ledger',
  usage: '[reconcile --invoice <file>] [options]',
  options: {
    by: { kind: 'value', value: '<fields>', summary: 'fields to group by (default key,model)', fallback: 'key,model' },
    since: {
      kind: 'value',
      value: '<time>',
      summary: 'not older than: 30d, 2h, or a timestamp (default 30d)',
      fallback: '30d',
    },
    until: { kind: 'value', value: '<time>', summary: 'older than this time' },
    invoice: {
      kind: 'value',
      value: '<file>',
      summary: 'with reconcile: a CSV export of usage or costs of OpenAI or Anthropic',
      isPath: true,
    },
    tolerance: {
      kind: 'value',
      value: '<percent>',
      summary: 'with reconcile: smaller differences are not shown (default 0.5)',
      fallback: '0.5',
    },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default), csv or json', fallback: 'table' },
    ...adminOptions,
  },
  notes: `Reads the ledger of a running standalone gateway, which needs \`config.ledger\`. The fields are day, hour, key, team,
route, model, requestedModel, provider, operation, status and basis; days and hours are those of UTC. The most
expensive group comes first. Calls whose cost is unknown are counted as unpriced, and are not part of the cost.

\`reconcile\` compares an invoice with the ledger, by day and model, on the days of the invoice. Costs that differ by less
than a cent are equal.

Exit codes: 0 success, 1 the ledger or the invoice could not be read, 2 bad usage, 3 invoice and ledger differ.

  porticoctl usage --by key,model --since 30d
  porticoctl usage --by day,team --since 2026-01-01T00:00:00Z -o csv
  porticoctl usage reconcile --invoice costs.csv
`,
  async run({ options, operands, afterDashes, io }) {
    const [action, extra] = [...operands, ...(afterDashes ?? [])]
    const { by, since, until, output, adminToken: token, invoice, tolerance } = options
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const problem =
      argumentProblem({ action, extra, invoice, tolerance }) ??
      (source.ok ? (tokenProblem(token) ?? formProblem(output)) : source.problem)
    if (!source.ok || source.value.kind !== 'local' || problem !== null) {
      io.stderr.write(`porticoctl usage: ${printable(problem ?? '')}\n(porticoctl usage --help shows how)\n`)
      return exitCode.badUsage
    }
    const { admin } = source.value
    if (invoice !== null) {
      const { showDifferences } = await import('../reconcile/show-differences.ts')
      return showDifferences({ admin, token, file: invoice, tolerance: Number(tolerance) / 100, output }, io)
    }
    const { showUsage } = await import('../usage/show-usage.ts')
    return showUsage({ admin, token, by, since, until, output }, io)
  },
})

interface UsageArguments {
  readonly action: string | undefined
  readonly extra: string | undefined
  readonly invoice: string | null
  readonly tolerance: string
}

function argumentProblem({ action, extra, invoice, tolerance }: UsageArguments): string | null {
  if (extra !== undefined) return `found ${JSON.stringify(extra)}, expected only options`
  if (action !== undefined && action !== 'reconcile') {
    return `found ${JSON.stringify(action)}, expected reconcile or only options`
  }
  if ((action === undefined) !== (invoice === null)) return 'reconcile and --invoice <file> need each other'
  const isPercentage = /^\d{1,2}(\.\d+)?$/.test(tolerance)
  return isPercentage ? null : `found tolerance ${JSON.stringify(tolerance)}, expected percents such as 0.5`
}

function formProblem(output: string): string | null {
  return ['table', 'csv', 'json'].includes(output)
    ? null
    : `found output ${JSON.stringify(output)}, expected table, csv or json`
}
