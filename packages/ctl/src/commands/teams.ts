import { adminOptions } from '../admin-options.ts'
import { defineCommand } from '../command.ts'
import { exitCode } from '../io.ts'
import { actionProblem } from '../keys/action-problem.ts'
import { fieldOptions } from '../keys/field-options.ts'
import { printable } from '../printable.ts'
import { planSource, tokenProblem } from '../trace/source.ts'

export const teams = defineCommand({
  name: 'teams',
  summary: 'create and change teams of API keys of a running gateway',
  usage: '<create | change | list | delete> [name] [options]',
  options: {
    parent: { kind: 'value', value: '<team>', summary: 'the team that this team belongs to' },
    ...fieldOptions,
    output: { kind: 'value', short: 'o', value: '<form>', summary: 'text (default) or json', fallback: 'text' },
    ...adminOptions,
  },
  notes: `A team has budgets and limits for all of its keys together. The gateway needs \`config.keys\`.

Exit codes: 0 done, 1 the gateway or the team is not as expected, 2 bad usage.

  porticoctl teams create support --budgets 100usd/month
  porticoctl teams change support --parent company --clear limits
`,
  async run({ options, operands, afterDashes, io }) {
    const { output, adminToken: token } = options
    const given = [...operands, ...(afterDashes ?? [])]
    const source = planSource({ local: true, admin: options.admin, operands: [] })
    const problem = actionProblem({ given, known: ACTIONS, what: 'team', output }) ?? tokenProblem(token)
    const [action, name = ''] = given
    if (action === undefined || problem !== null || !source.ok || source.value.kind !== 'local') {
      const text = problem ?? (source.ok ? '' : source.problem)
      io.stderr.write(`porticoctl teams: ${printable(text)}\n(porticoctl teams --help shows how)\n`)
      return exitCode.badUsage
    }
    const { changeStored } = await import('../keys/change-stored.ts')
    const flags = { ...options, team: null, owner: null, models: null, routes: null, expires: null }
    const how = { action, name, flags, overlap: '', isJson: output === 'json', now: Date.now() }
    return changeStored({ ...how, kind: 'teams', admin: source.value.admin, token }, io)
  },
})

const ACTIONS = ['create', 'change', 'list', 'delete']
