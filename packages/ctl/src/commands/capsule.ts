import { adminOptions } from '../admin-options.ts'
import { clusterOptions } from '../cluster/options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'
import { idProblem } from './explain.ts'

export const capsule = defineCommand({
  name: 'capsule',
  summary: 'write a recorded request with all that decided it to one file without secrets',
  usage: '<id> [gateway/<name>] [options]',
  options: {
    to: {
      kind: 'value',
      value: '<path>',
      summary: 'the file to write (default <id>.capsule.json), or - for standard output',
      isPath: true,
    },
    ...adminOptions,
    ...clusterOptions,
  },
  notes: `The id is in the header x-portico-decision of a denied request, and in the list of porticoctl requests. Without
gateway/<name>, the gateway is the standalone one at --admin. For a Gateway in a cluster, all ready Pods are searched.

The file has the parts of the config that the request passed, the request, the decisions and the answer of the upstream.
Secrets are replaced by stand-ins that lead to the same decision. porticoctl test replays the file anywhere.

Exit codes: 0 written, 1 there is no such record, or the request cannot be replayed (the file says why), 2 bad usage.

  porticoctl capsule 01jd3xk2m8q7c5r
  porticoctl test 01jd3xk2m8q7c5r.capsule.json
  porticoctl capsule 01jd3xk2m8q7c5r gateway/web -n shop --to bug.json
`,
  async run({ options, operands, afterDashes, io }) {
    const [id, ...rest] = [...operands, ...(afterDashes ?? [])]
    const { admin, adminToken: token, to } = options
    const source = planSource({ local: rest.length === 0, admin, operands: rest })
    const problem = idProblem(id) ?? (source.ok ? tokenProblem(token) : source.problem)
    if (!source.ok || problem !== null || id === undefined) {
      io.stderr.write(`porticoctl capsule: ${printable(problem ?? '')}\n(porticoctl capsule --help shows how)\n`)
      return exitCode.badUsage
    }
    const [{ saveCapsule }, { withAdmins }] = await Promise.all([
      import('../requests/save-capsule.ts'),
      import('../requests/with-admins.ts'),
    ])
    return withAdmins({ ...options, from: source.value }, io, (admins) =>
      saveCapsule(admins, { id, token, to: to ?? `${id}.capsule.json` }, io),
    )
  },
})
