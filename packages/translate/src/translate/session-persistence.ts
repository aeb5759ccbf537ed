import type { Fields } from '../resources/fields.ts'
import { durationAt } from './durations.ts'

/**
 * Reads `sessionPersistence` of a rule or of a backend, in the form of the config file; undefined when it is absent.
 * Names are in `cookie` and `header` since 1.7 of the Gateway API.
 */
export function readPersistence(owner: Fields): Record<string, unknown> | undefined {
  if (!owner.has('sessionPersistence')) return undefined
  const persistence = owner.object('sessionPersistence')
  const [oldName, type] = [persistence.text('sessionName'), persistence.text('type')]
  const [absolute, idle] = [durationAt(persistence, 'absoluteTimeout'), durationAt(persistence, 'idleTimeout')]
  const [cookie, header] = [persistence.object('cookie'), persistence.object('header')]
  const [cookieName, path, headerName] = [cookie.text('name'), cookie.text('path'), header.text('name')]
  const oldCookie = persistence.object('cookieConfig')
  const lifetimeType = cookie.text('lifetimeType') ?? oldCookie.text('lifetimeType')
  for (const fields of [cookie, header, oldCookie, persistence]) fields.done()
  const sessionName = (type === 'Header' ? headerName : cookieName) ?? oldName
  return {
    ...(type !== undefined && { type }),
    ...(sessionName !== undefined && { sessionName }),
    ...(absolute !== undefined && { absoluteTimeout: `${absolute}ms` }),
    ...(idle !== undefined && { idleTimeout: `${idle}ms` }),
    ...(lifetimeType !== undefined && { lifetimeType }),
    ...(path !== undefined && { path }),
  }
}
