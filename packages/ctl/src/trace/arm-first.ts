import { arm, type ArmResult, type ArmOptions, type StreamEnd } from './client.ts'
import type { AdminAddress } from './admin-address.ts'

interface ArmFirstOptions extends Omit<ArmOptions, 'admin'> {
  readonly admins: readonly [AdminAddress, ...AdminAddress[]]
}

/** Arms several gateways for one request: the first that sees a request reports it, and the others are closed. */
export async function armFirst({ admins, onEvent, ...options }: ArmFirstOptions): Promise<ArmResult> {
  let chosen: number | null = null
  const armed: (Extract<ArmResult, { ok: true }> | null)[] = []
  const letGo = (): void => armed.forEach((each, index) => index === chosen || each?.close())
  const tried = await Promise.all(
    admins.map(async (admin, index) => {
      const each = await arm({
        ...options,
        admin,
        onEvent(event) {
          if (chosen === null) {
            chosen = index
            letGo()
          }
          if (chosen === index) onEvent(event)
        },
      })
      armed[index] = each.ok ? each : null
      return each
    }),
  )
  if (chosen !== null) letGo()
  const watching = tried.flatMap((each, index) => (each.ok ? [{ ...each, index }] : []))
  const [refused] = tried.filter((each) => !each.ok)
  if (watching.length === 0 && refused !== undefined) return refused
  const ended = firstEnd(watching, () => chosen)
  return {
    ok: true,
    ended,
    close: () => watching.forEach((each) => each.close()),
    problems: tried.flatMap((each) => (each.ok ? [] : each.problem)),
  }
}

/** The end of the trace that reported a request; when none did, the end of the last. */
function firstEnd(
  watching: readonly { ended: Promise<StreamEnd>; index: number }[],
  chosen: () => number | null,
): Promise<StreamEnd> {
  let left = watching.length
  return new Promise((resolve) => {
    for (const { ended, index } of watching) {
      void ended.then((end) => {
        left -= 1
        if (chosen() === index || (chosen() === null && left === 0)) resolve(end)
      })
    }
  })
}
