import type { IncomingMessage } from 'node:http'
import type { AdminCredentials } from '../credentials.ts'
import { SESSION_PATH } from '../guard.ts'
import { pathOf, queryOf, type Reply, text } from '../http.ts'
import type { Sessions } from '../sessions.ts'
import type { PageSource } from './page-source.ts'
import { buildingPage, failedPage, loginPage, loginScript, missingPage, plainStyle } from './plain-pages.ts'

interface Access {
  readonly sessions: Sessions
  readonly credentials: AdminCredentials
}

/** Everything below `/ui`, once the guard has let it in. Without a token there are no sessions, and nothing to log in to. */
export function answerUi(request: IncomingMessage, source: PageSource, access: Access): Reply {
  const path = pathOf(request) ?? ''
  if (path === SESSION_PATH) return answerSession(request, access)
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return text(405, 'method not allowed\n', { allow: 'GET, HEAD' })
  if (path === '/ui') return redirect('/ui/')
  if (path === '/ui/plain.css') return plainStyle()
  if (path === '/ui/login.js') return loginScript()
  if (path === '/ui/login') return access.credentials.all.length === 0 ? redirect('/ui/') : loginPage()
  return answerPage(request, path.slice('/ui/'.length), source)
}

/** Redirects to the login page, and from there back to the requested page. */
export function toLogin(request: IncomingMessage): Reply {
  return redirect(`/ui/login?to=${encodeURIComponent(request.url ?? '/ui/')}`)
}

function answerPage(request: IncomingMessage, name: string, source: PageSource): Reply {
  if (queryOf(request).has('again')) {
    source.again()
    return redirect('/ui/')
  }
  const state = source.open()
  if (state.kind === 'ready') {
    const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0)/.test(request.headers['accept-encoding'] ?? '')
    if (name.startsWith('assets/')) return state.files.asset(name, acceptsGzip) ?? text(404, 'not found\n')
    return state.files.page(acceptsGzip)
  }
  if (name.startsWith('assets/')) return text(404, 'not found\n')
  if (state.kind === 'building') return buildingPage(state.seconds)
  return state.kind === 'failed' ? failedPage(state.why) : missingPage()
}

/** The guard has seen a token (POST) or a session. */
function answerSession(request: IncomingMessage, { sessions, credentials }: Access): Reply {
  if (credentials.all.length === 0) return text(404, 'the admin server has no sessions: no token is set\n')
  if (request.method === 'GET') return json({})
  if (request.method === 'DELETE') {
    return { ...json({}), headers: { 'set-cookie': sessions.end(request.headers.cookie) } }
  }
  if (request.method !== 'POST') return text(405, 'method not allowed\n', { allow: 'GET, POST, DELETE' })
  const credential = credentials.presentedBy(request)
  if (credential === null) return text(401, 'token required\n', { 'www-authenticate': 'Bearer' })
  const { cookie, proof, endsAt } = sessions.open(credential)
  return { ...json({ proof, endsAt }), headers: { 'set-cookie': cookie } }
}

function json(value: object): Reply {
  return { status: 200, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

function redirect(location: string): Reply {
  return text(303, '', { location })
}
