import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { ORDER } from '../shadow/summary.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const shadow = defineCommand({
  name: 'shadow',
  summary: 'show what shadow policies would have done',
  usage: 'gateway/<name> | --local [options]',
  options: {
    local: { kind: 'flag', summary: 'use a standalone gateway instead of one in a cluster' },
    last: { kind: 'value', value: '<time>', summary: 'how far back: 15m, 1h (default), 2d', fallback: '1h' },
    policy: { kind: 'value', value: '<name>', summary: 'only this shadow, such as authorization' },
    route: { kind: 'value', value: '<name>', summary: 'only requests of this route' },
    outcome: { kind: 'value', value: '<names>', summary: 'only denied, error, unknown or allowed' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'table (default) or json', fallback: 'table' },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `Adds up the recorded requests that met a shadow policy, by outcome, policy and route, with the most frequent cause
and the id of the newest request, which porticoctl explain takes. A gateway keeps a limited number of records: the first
line says how far back they go. The metric portico_shadow_total counts every request.

Exit codes: 0 success, 1 the requests could not be read, 2 bad usage.

  porticoctl shadow --local
  porticoctl shadow gateway/web -n shop --outcome denied --last 15m -o json
`,
  async run({ options, operands, afterDashes, io }) {
    const source = planSource({ ...options, operands: [...operands, ...(afterDashes ?? [])] })
    const { output, last, policy, route, adminToken: token } = options
    const outcomes = options.outcome?.split(',') ?? ORDER
    const problem = source.ok ? (tokenProblem(token) ?? problemOf({ output, last, outcomes })) : source.problem
    if (!source.ok || problem !== null) {
      io.stderr.write(`porticoctl shadow: ${printable(problem ?? '')}\n(porticoctl shadow --help shows how)\n`)
      return exitCode.badUsage
    }
    const [{ showShadow }, { withAdmins }] = await Promise.all([
      import('../shadow/show-shadow.ts'),
      import('../requests/with-admins.ts'),
    ])
    const request = { last, policy, route, outcomes, token, isJson: output === 'json' }
    return withAdmins({ ...options, from: source.value }, io, (admins) => showShadow(admins, request, io))
  },
})

function problemOf({ output, last, outcomes }: { output: string; last: string; outcomes: readonly string[] }) {
  if (!['table', 'json'].includes(output)) return `found output ${JSON.stringify(output)}, expected table or json`
  if (!/^[0-9]{1,6}[smhd]$/.test(last)) return `found --last ${JSON.stringify(last)}, expected a time such as 15m or 1h`
  const wrong = outcomes.find((outcome) => !ORDER.includes(outcome))
  return wrong === undefined ? null : `found --outcome ${JSON.stringify(wrong)}, expected ${ORDER.join(', ')}`
}
