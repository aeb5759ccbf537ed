import { Button, TextInput } from '@mantine/core'
import type { RequestRecord, TraceEvent } from '@portico/gateway/admin-api'
import { useEffect, useRef, useState } from 'react'
import { TraceList } from '../play/trace-list.tsx'
import { expressionFor } from './resend-form.ts'
import { watchTrace } from './watch-trace.ts'
import { asError } from '../api/unknown-values.ts'

type State = 'idle' | 'arming' | 'waiting' | 'seen' | 'over' | Error

const WORDS = {
  idle: '',
  arming: 'Starting the trace …',
  waiting: '● Waiting for the next request that matches',
  seen: '● Request found',
  over: 'The request is finished',
} as const

/** Waits for the next request like this one, and shows its steps as they happen. */
export function TraceNext({ record }: { record: RequestRecord }) {
  const [expression, setExpression] = useState(() => expressionFor(record))
  const [state, setState] = useState<State>('idle')
  const [events, setEvents] = useState<readonly TraceEvent[]>([])
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const arm = async (): Promise<void> => {
    const stop = new AbortController()
    running.current = stop
    setEvents([])
    setState('arming')
    try {
      await watchTrace(expression, stop.signal, {
        onReady: () => setState('waiting'),
        onEvent: (event) => {
          setState('seen')
          setEvents((before) => [...before, event])
        },
      })
      setState('over')
    } catch (error) {
      setState(stop.signal.aborted ? 'idle' : asError(error))
    }
  }
  const isArmed = state === 'arming' || state === 'waiting' || state === 'seen'
  return (
    <form
      className="again"
      onSubmit={(event) => {
        event.preventDefault()
        void arm()
      }}
    >
      <TextInput
        label="Trace the next request that matches"
        description="A CEL expression over the request as it arrives: method, path, host, headers, source"
        classNames={{ input: 'mono' }}
        value={expression}
        disabled={isArmed}
        onChange={(event) => setExpression(event.currentTarget.value)}
      />
      <div className="tool-actions">
        {isArmed ? (
          <Button size="xs" variant="default" onClick={() => running.current?.abort()}>
            Stop waiting
          </Button>
        ) : (
          <Button size="xs" variant="default" type="submit">
            Start the trace
          </Button>
        )}
        <span role="status" className="dim">
          {state instanceof Error ? '' : WORDS[state]}
        </span>
      </div>
      {state instanceof Error && (
        <p className="play-failed" role="alert">
          ▲ {state.message}
        </p>
      )}
      {events.length > 0 && <TraceList events={events} withSkipped />}
    </form>
  )
}
