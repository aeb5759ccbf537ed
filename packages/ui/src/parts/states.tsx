import { Button, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import './states.css'

/** While an answer is on its way: the shape of what comes. */
export function Loading({ rows = 8, what }: { rows?: number; what: string }) {
  return (
    <div className="loading" role="status" aria-label={`Loading ${what}`}>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} height={14} width={`${90 - ((row * 37) % 45)}%`} radius="sm" />
      ))}
    </div>
  )
}

/** What failed, in the words of who refused, and a way to try again. */
export function Failed({ what, error, onRetry }: { what: string; error: Error; onRetry: () => void }) {
  return (
    <section className="empty" role="alert">
      <h1>{what} could not be read</h1>
      <p className="mono">{error.message}</p>
      <Button size="xs" variant="default" onClick={onRetry}>
        Try again
      </Button>
    </section>
  )
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className="empty">
      <h1>{title}</h1>
      {children}
    </section>
  )
}
