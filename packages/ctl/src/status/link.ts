import { Fields, isFine, reasonEntry, type Resource } from '@portico/translate'

/** One step on the path of a request through resources. */
export interface Link {
  /** The name, such as `Gateway shop/web`. */
  what: string
  /** A `note` is no problem; `unknown` means that a right is missing. */
  state: 'ok' | 'broken' | 'note' | 'unknown'
  /** The conditions, or the problem. */
  says: string
  condition?: FoundCondition
  fix?: string
}

interface FoundCondition {
  type: string
  status: string
  reason: string
  message: string
}

/** A condition of a status, and the generation that it describes. */
interface SeenCondition extends FoundCondition {
  observedGeneration: number | undefined
}

export function readConditions(holder: Fields): SeenCondition[] {
  return holder.objects('conditions').map((each) => ({
    type: each.text('type') ?? '',
    status: each.text('status') ?? 'Unknown',
    reason: each.text('reason') ?? '',
    message: each.text('message') ?? '',
    observedGeneration: each.integer('observedGeneration'),
  }))
}

/** Conditions that only inform when true, because the user asked for what they report. */
const NOTES: ReadonlySet<string> = new Set(['InsecureFrontendValidationMode'])

/** Summarizes the conditions of a resource: the first problem, or all of them in a few words. */
export function conditionsLink(what: string, resource: Resource, conditions: readonly SeenCondition[]): Link {
  if (conditions.length === 0) {
    return broken(
      what,
      'no controller has written its status',
      'Check that the controller runs, and that a GatewayClass names `portico.dev/gateway`.',
    )
  }
  const bad = conditions.find((each) => !isFine(each) && !NOTES.has(each.type))
  const { generation = 0 } = resource.metadata
  const seen = Math.max(...conditions.map(({ observedGeneration = generation }) => observedGeneration))
  if (seen < generation) {
    const says = `the controller has not processed its last change (generation ${generation}, seen ${seen})`
    return broken(what, says, 'Try again in a moment; if it stays, check that the controller runs.')
  }
  if (bad !== undefined) return conditionLink(what, 'broken', bad)
  const note = conditions.find(({ type, status }) => NOTES.has(type) && status === 'True')
  if (note !== undefined) return conditionLink(what, 'note', note)
  return {
    what,
    state: 'ok',
    says: conditions
      .filter(({ status }) => status === 'True')
      .map(({ type }) => type)
      .join(', '),
  }
}

function conditionLink(
  what: string,
  state: 'broken' | 'note',
  { type, status, reason, message }: FoundCondition,
): Link {
  const fix = reasonEntry(reason)?.fix ?? null
  return {
    what,
    state,
    says: `${type} is ${status} (${reason}): ${message}`,
    condition: { type, status, reason, message },
    ...(fix !== null && { fix }),
  }
}

export function ok(what: string, says: string): Link {
  return { what, state: 'ok', says }
}

export function broken(what: string, says: string, fix: string): Link {
  return { what, state: 'broken', says, fix }
}

export function unknown(what: string, right: string): Link {
  return { what, state: 'unknown', says: `not checked: no right to ${right}` }
}

export function statusFields(status: unknown): Fields {
  return new Fields(status, ['status'], [])
}
