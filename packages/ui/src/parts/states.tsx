import { Button, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatClock } from '../format/times.ts'
import './states.css'

/** A skeleton while data is on its way. `what` names the data for screen readers. */
export function Loading({ rows = 8, what }: { rows?: number; what: string }) {
  return (
    <div className="loading" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={14} width={`${90 - ((row * 37) % 45)}%`} radius="sm" />
      ))}
    </div>
  )
}

interface FailedProps {
  what: string
  error: Error
  /** The sentence about the effect of the failure. */
  children?: ReactNode
  onRetry: () => void
}

/** A failed read: the error of the gateway as it is, and a button to retry. */
export function Failed({ what, error, children, onRetry }: FailedProps) {
  return (
    <section className="empty" role="alert">
      <h1>{what} could not be read</h1>
      <p className="mono">{error.message}</p>
      {children}
      <Button size="xs" variant="default" onClick={onRetry}>
        Try again
      </Button>
    </section>
  )
}

/** A page or list without entries. The children say how to get some. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className="empty">
      <h1>{title}</h1>
      {children}
    </section>
  )
}

/** Shown above data that could not be read again. `at` is the time of the data. */
export function Stale({ at, error }: { at: number; error: Error }) {
  return (
    <p className="stale" role="status">
      ▲ As of {formatClock(at)}: {error.message}
    </p>
  )
}
