import { printable } from '../printable.ts'
import { stateOf, type TraceEvent } from '../trace/event.ts'
import { jsonLines } from '../trace/json-lines.ts'
import { type Change, changeLine, diffStates } from '../trace/state-diff.ts'
import type { DetailMode } from './view-state.ts'

export interface DetailLine {
  readonly text: string
  readonly kind: 'plain' | Change['kind']
}

export interface Detail {
  readonly title: string
  readonly lines: readonly DetailLine[]
}

/** Returns the content of the detail pane for the selected event. */
export function detailOf(events: readonly TraceEvent[], selected: number, mode: DetailMode): Detail {
  const event = events[selected]
  if (event === undefined) return { title: '', lines: [] }
  if (mode === 'event') return { title: `event ${selected + 1}`, lines: jsonLines(event.value).map(plain) }
  const at = events.findLastIndex((candidate, index) => index <= selected && stateOf(candidate) !== null)
  const snapshot = events[at]
  if (snapshot === undefined) return { title: 'no snapshot yet', lines: [] }
  if (mode === 'state') return { title: nameOf(at, snapshot), lines: jsonLines(stateOf(snapshot)).map(plain) }
  return diffOf(events, snapshot, at)
}

/** A response is compared with the previous response, because everything differs from a request. */
function diffOf(events: readonly TraceEvent[], snapshot: TraceEvent, at: number): Detail {
  const before = events.findLastIndex(
    (candidate, index) => index < at && candidate.type === snapshot.type && stateOf(candidate) !== null,
  )
  const previous = events[before]
  const changes = diffStates(previous === undefined ? undefined : stateOf(previous), stateOf(snapshot))
  return {
    title: `${previous === undefined ? 'nothing' : before + 1} → ${nameOf(at, snapshot)}`,
    lines:
      changes.length === 0
        ? [plain('no difference')]
        : changes.map((change) => ({ text: printable(changeLine(change)), kind: change.kind })),
  }
}

function nameOf(index: number, { message }: TraceEvent): string {
  const stage = message['stage']
  return `${index + 1} ${typeof stage === 'string' ? printable(stage) : '?'}`
}

function plain(text: string): DetailLine {
  return { text: printable(text), kind: 'plain' }
}
