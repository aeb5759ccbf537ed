import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const explain = defineCommand({
  name: 'explain',
  summary: 'explain the decision on a recorded request, and what would have passed',
  usage: '<id> gateway/<name> | --local [options]',
  options: {
    local: { kind: 'flag', summary: 'use a standalone gateway instead of one in a cluster' },
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `The id is in the header x-portico-decision of a denied request, and in the list of porticoctl requests.
Prints the policy and rule that decided, their location in the config, the values that were read
(secrets are redacted), and the smallest changes with which the request would have passed. For a
Gateway in a cluster, all ready Pods are searched.

Exit codes: 0 success, 1 there is no such record or it could not be read, 2 bad usage.

  porticoctl explain 01jd3xk2m8q7c5r --local
  porticoctl explain 01jd3xk2m8q7c5r gateway/web -n shop -o json
`,
  async run({ options, operands, afterDashes, io }) {
    const [id, ...rest] = [...operands, ...(afterDashes ?? [])]
    const source = planSource({ ...options, operands: rest })
    const problem = idProblem(id) ?? (source.ok ? (tokenProblem(options.adminToken) ?? null) : source.problem)
    if (!source.ok || problem !== null || !['text', 'json'].includes(options.output)) {
      const said = problem ?? `found output ${JSON.stringify(options.output)}, expected text or json`
      io.stderr.write(`porticoctl explain: ${printable(said)}\n(porticoctl explain --help shows how)\n`)
      return exitCode.badUsage
    }
    const [{ showExplanation }, { withAdmins }] = await Promise.all([
      import('../requests/show-one.ts'),
      import('../requests/with-admins.ts'),
    ])
    const request = { id: id ?? '', token: options.adminToken, isJson: options.output === 'json' }
    return withAdmins({ ...options, from: source.value }, io, (admins) => showExplanation(admins, request, io))
  },
})

export function idProblem(id: string | undefined): string | null {
  if (id === undefined) return 'name the id of a request, as x-portico-decision or porticoctl requests has it'
  return /^[0-9a-z]{1,32}$/.test(id) ? null : `found id ${JSON.stringify(id)}, expected small letters and digits`
}
