import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const usage = defineCommand({
  name: 'usage',
  summary: 'add up calls, tokens and costs of the ledger',
  usage: '[options]',
  options: {
    by: { kind: 'value', value: '<fields>', summary: 'fields to group by (default key,model)', fallback: 'key,model' },
    since: {
      kind: 'value',
      value: '<time>',
      summary: 'not older than: 30d, 2h, or a timestamp (default 30d)',
      fallback: '30d',
    },
    until: { kind: 'value', value: '<time>', summary: 'older than this time' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default), csv or json', fallback: 'table' },
    ...adminOptions,
  },
  notes: `Reads the ledger of a running standalone gateway, which needs \`config.ledger\`. The fields are day, hour, key, team,
route, model, requestedModel, provider, operation, status and basis; days and hours are those of UTC. The most
expensive group comes first. Calls whose cost is unknown are counted as unpriced, and are not part of the cost.

Exit codes: 0 success, 1 the ledger could not be read, 2 bad usage.

  porticoctl usage --by key,model --since 30d
  porticoctl usage --by day,team --since 2026-01-01T00:00:00Z -o csv
`,
  async run({ options, operands, afterDashes, io }) {
    const [extra] = [...operands, ...(afterDashes ?? [])]
    const { by, since, until, output, adminToken: token } = options
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const problem =
      (extra === undefined ? null : `found ${JSON.stringify(extra)}, expected only options`) ??
      (source.ok ? (tokenProblem(token) ?? formProblem(output)) : source.problem)
    if (!source.ok || source.value.kind !== 'local' || problem !== null) {
      io.stderr.write(`porticoctl usage: ${printable(problem ?? '')}\n(porticoctl usage --help shows how)\n`)
      return exitCode.badUsage
    }
    const { showUsage } = await import('../usage/show-usage.ts')
    return showUsage({ admin: source.value.admin, token, by, since, until, output }, io)
  },
})

function formProblem(output: string): string | null {
  return ['table', 'csv', 'json'].includes(output)
    ? null
    : `found output ${JSON.stringify(output)}, expected table, csv or json`
}
