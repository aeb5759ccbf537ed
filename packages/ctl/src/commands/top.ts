import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const top = defineCommand({
  name: 'top',
  summary: 'show current traffic by route',
  usage: 'gateway/<name> | --local [options]',
  options: {
    local: { kind: 'flag', summary: 'use a standalone gateway instead of one in a cluster' },
    window: {
      kind: 'value',
      value: '<seconds>',
      summary: 'length of the window in seconds (default 10)',
      fallback: '10',
    },
    once: { kind: 'flag', summary: 'print the table once, at the end of the first window' },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `One row per route, the busiest first: requests per second, denied and failed requests, durations, and the
policy that denied most. A terminal redraws the table each second; otherwise it is printed at the end of each
window. For a Gateway in a cluster, the requests of all ready Pods are added up.

Exit codes: 0 success, 1 the requests could not be read, 2 bad usage, 130 interrupted.

  porticoctl top --local
  porticoctl top gateway/web -n shop --window 60
`,
  async run({ options, operands, afterDashes, io }) {
    const source = planSource({ ...options, operands: [...operands, ...(afterDashes ?? [])] })
    const problem = source.ok ? (tokenProblem(options.adminToken) ?? windowProblem(options.window)) : source.problem
    if (!source.ok || problem !== null) {
      io.stderr.write(`porticoctl top: ${printable(problem ?? '')}\n(porticoctl top --help shows how)\n`)
      return exitCode.badUsage
    }
    const [{ showTop }, { withAdmins }] = await Promise.all([
      import('../requests/show-top.ts'),
      import('../requests/with-admins.ts'),
    ])
    const request = { windowMs: Number(options.window) * 1000, isOnce: options.once, token: options.adminToken }
    return withAdmins({ ...options, from: source.value }, io, (admins) => showTop(admins, request, io))
  },
})

function windowProblem(window: string): string | null {
  const isFine = /^[0-9]{1,4}$/.test(window) && Number(window) >= 1 && Number(window) <= 3600
  return isFine ? null : `found window ${JSON.stringify(window)}, expected seconds from 1 to 3600`
}
