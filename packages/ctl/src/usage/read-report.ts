import type { UsageReport } from '@portico/gateway/admin-api'
import { openAdmin, readAll, refusal } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

interface ReportRequest {
  readonly admin: AdminAddress
  readonly token: string | null
  readonly by: string
  readonly since: string
  readonly until: string | null
}

/** Returns the reason as a text when the ledger cannot be read. */
export async function readReport({ admin, token, by, since, until }: ReportRequest): Promise<UsageReport | string> {
  const query = new URLSearchParams({ by, since, ...(until !== null && { until }) })
  const asked = { admin, token, path: `/api/usage?${query.toString()}` }
  const opened = await openAdmin(asked, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return opened.problem
  const { response } = opened
  try {
    const text = await readAll(response)
    if (response.statusCode === 200) return JSON.parse(text) as UsageReport
    // Other servers respond with 404, too.
    const isAboutLedger = [404, 503].includes(response.statusCode ?? 0) && text.includes('ledger')
    return isAboutLedger ? `${admin.label}: ${text.trim()}` : refusal(asked, response, text)
  } catch {
    return `${admin.label} is not an admin server of Portico`
  }
}

const ANSWER_WITHIN_MS = 30_000
