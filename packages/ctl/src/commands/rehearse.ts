import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const rehearse = defineCommand({
  name: 'rehearse',
  summary: 'let a share of the calls to a backend fail or wait for a while, and show what clients saw',
  usage: '(--backend <name> | --route <name>) [--status <code>] [--delay <time>] [options]',
  options: {
    backend: { kind: 'value', value: '<name>', summary: 'a backend, or a provider: openai, models/openai' },
    route: { kind: 'value', value: '<name>', summary: 'all backends of this route' },
    status: { kind: 'value', value: '<code>', summary: 'answer calls with this status, 400 to 599' },
    delay: { kind: 'value', value: '<time>', summary: 'let calls wait for this time first, such as 2s' },
    share: { kind: 'value', value: '<percent>', summary: 'the share of the calls (default 100%)', fallback: '100%' },
    for: { kind: 'value', value: '<time>', summary: 'how long, at most 1h (default 1m)', fallback: '1m' },
    stop: { kind: 'flag', summary: 'end the rehearsal that runs, whoever started it' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
    ...adminOptions,
  },
  notes: `Calls that a rehearsal answers with an error do not reach the backend. Retries, failover and fallback see the error as one of
the backend. The rehearsal is over when the time is over, when the command ends or dies, and when the config of the gateway
changes. A gateway has one rehearsal at a time. The gateway must record requests for the report.

Exit codes: 0 the time is over, 1 the gateway did not rehearse, or ended early, 2 bad usage, 130 interrupted.

  porticoctl rehearse --backend openai --status 429 --share 30% --for 2m
  porticoctl rehearse --route checkout --delay 3s
`,
  async run({ options, operands, afterDashes, io }) {
    const { backend, route, stop, output, adminToken: token } = options
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const plan = planOf(options)
    const extra = [...operands, ...(afterDashes ?? [])][0]
    const isReading = extra === undefined && (output === 'text' || output === 'json')
    const problem = !isReading
      ? `found ${JSON.stringify(extra ?? output)}, expected only options; -o takes text or json`
      : typeof plan === 'string' && !stop
        ? plan
        : stop && (backend !== null || route !== null)
          ? '--stop takes no backend and no route'
          : tokenProblem(token)
    if (!source.ok || source.value.kind !== 'local' || problem !== null) {
      const text = problem ?? (source.ok ? '' : source.problem)
      io.stderr.write(`porticoctl rehearse: ${printable(text)}\n(porticoctl rehearse --help shows how)\n`)
      return exitCode.badUsage
    }
    const how = { admin: source.value.admin, token, isJson: output === 'json' }
    if (stop) return (await import('../rehearse/stop-rehearsal.ts')).stopRehearsal(how, io)
    if (typeof plan === 'string') return exitCode.badUsage
    return (await import('../rehearse/run-rehearsal.ts')).runRehearsal({ ...how, plan }, io)
  },
})

interface PlanOptions {
  readonly backend: string | null
  readonly route: string | null
  readonly status: string | null
  readonly delay: string | null
  readonly share: string
  readonly for: string
}

/** Returns the request body that starts the rehearsal, or the problem with the options. */
function planOf({ backend, route, status, delay, share, for: lasts }: PlanOptions): Record<string, unknown> | string {
  if ((backend === null) === (route === null)) return 'name one of --backend and --route'
  if (status === null && delay === null) return 'say what happens: --status, --delay or both'
  if (status !== null && !/^[45]\d\d$/.test(status)) return `found status ${status}, expected 400 to 599`
  const [, percent] = /^(\d{1,3}(?:\.\d{1,4})?)%?$/.exec(share) ?? []
  const percentage = Number(percent)
  if (percent === undefined || percentage < 0.01 || percentage > 100)
    return `found share ${share}, expected a percentage from 0.01% to 100%`
  return {
    ...(backend !== null && { backend }),
    ...(route !== null && { route }),
    ...(status !== null && { status: Number(status) }),
    ...(delay !== null && { delay }),
    ...{ percentage, for: lasts },
  }
}
