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
  notes: `A row for each route, the busiest first: requests per second, those that were refused and that failed,
how long they took, and what most refusals were decided by. On a terminal the table is drawn anew each second;
elsewhere it is printed at the end of each window. Of a Gateway in a cluster all ready Pods count together.

Exit codes: 0 it was shown, 1 it could not be had, 2 bad usage, 130 interrupted.

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
