import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import '../parts/states.css'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { asError } from '../api/unknown-values.ts'

/** A page that threw an error. The frame around it stays. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const queries = useQueryClient()
  const retry = (): void => {
    // The page may have failed over data that it would find in the cache again.
    void queries.resetQueries()
    reset()
  }
  return (
    <section className="empty" role="alert">
      <h1>This page failed</h1>
      <p className="mono">{asError(error).message}</p>
      <Button size="xs" variant="default" onClick={retry}>
        Try again
      </Button>
    </section>
  )
}
