import type { PageType, Reply } from '../http.ts'
import { PAGE_HEADERS } from './page-files.ts'

/** The few pages that are there without a build, and before a login. Nothing that comes from outside is in their markup. */

export function loginPage(): Reply {
  return html(
    200,
    'Log in',
    `<form id="login"><label for="token">Admin token</label>
<input id="token" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button><p id="problem" role="alert"></p></form>
<p class="note">The value of <code>ADMIN_TOKEN</code> of this gateway, or a token of <code>config.admin.tokens</code>.</p>
<script src="/ui/login.js" type="module"></script>`,
  )
}

export function buildingPage(seconds: number): Reply {
  const body = `<p role="status">The pages of this checkout are being built, once for each change of their sources${seconds > 1 ? `: ${seconds} s so far` : ''}.</p>
<p class="note">The gateway serves traffic meanwhile. This page reloads by itself.</p>`
  // Without a script: there is none yet.
  return html(503, 'Building', body, { refresh: '1', 'retry-after': '1' })
}

export function failedPage(why: string): Reply {
  const body = `<p role="alert">The pages of this checkout could not be built. <code>npm ci</code> installs what they need; then open
<a href="/ui/?again">this page</a> to build them once more.</p><pre>${escapeHtml(why)}</pre>`
  return html(500, 'Not built', body)
}

export function missingPage(): Reply {
  return html(
    404,
    'No pages',
    '<p>This build of the gateway has no pages: <code>npm run build</code> puts them in.</p>',
  )
}

export function plainStyle(): Reply {
  return page(200, 'text/css; charset=utf-8', STYLE)
}

export function loginScript(): Reply {
  return page(200, 'text/javascript; charset=utf-8', LOGIN)
}

function html(status: number, title: string, body: string, headers: Record<string, string> = {}): Reply {
  const text = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Portico</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/ui/plain.css"></head>
<body><main><h1>portico</h1>
${body}
</main></body></html>
`
  return page(status, 'text/html; charset=utf-8', text, headers)
}

function page(status: number, type: PageType, body: string, headers: Record<string, string> = {}): Reply {
  return { status, type, headers: { ...PAGE_HEADERS, ...headers }, body }
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#f7f7f8, #16171a); color: light-dark(#1d1e22, #d6d7db); }
main { width: min(26rem, calc(100vw - 3rem)); }
h1 { font-size: 1.15rem; letter-spacing: 0.02em; margin: 0 0 1.25rem; }
form { display: grid; gap: 0.5rem; }
label { font-weight: 600; font-size: 0.9rem; }
input, button { font: inherit; padding: 0.5rem 0.7rem; border-radius: 6px; border: 1px solid light-dark(#8b8d96, #7a7c86); background: light-dark(#fff, #1f2024); color: inherit; }
button { background: light-dark(#1d1e22, #e4e5e9); color: light-dark(#fff, #16171a); font-weight: 600; border: 0; cursor: pointer; margin-top: 0.25rem; }
:focus-visible { outline: 2px solid light-dark(#2f5fd0, #8fb1ff); outline-offset: 2px; }
a { color: light-dark(#2f5fd0, #8fb1ff); }
.note { color: light-dark(#5c5e68, #9c9ea8); font-size: 0.9rem; }
#problem { color: light-dark(#b3261e, #ff8a80); min-height: 1.5em; margin: 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: light-dark(#fff, #1f2024); padding: 0.75rem; border-radius: 6px; font-size: 0.8rem; }
`

/** The next page comes from the URL, so it is restricted to pages of this origin. */
const LOGIN = `const wanted = new URL(new URLSearchParams(location.search).get('to') ?? '/ui/', location.origin)
const next = wanted.origin === location.origin && wanted.pathname.startsWith('/ui/') ? wanted.pathname + wanted.search : '/ui/'
const goOn = () => location.replace(next)

// A link from another site comes without the cookie, though there is a session.
const proof = localStorage.getItem('portico.session')
if (proof !== null) {
  const known = await fetch('/ui/session', { headers: { 'x-portico-session': proof } })
  if (known.ok) goOn()
  else localStorage.removeItem('portico.session')
}

document.getElementById('login').addEventListener('submit', async (event) => {
  event.preventDefault()
  const problem = document.getElementById('problem')
  problem.textContent = ''
  try {
    const token = document.getElementById('token').value.trim()
    const headers = { authorization: 'Bearer ' + token, 'x-portico-same-origin': '1' }
    const response = await fetch('/ui/session', { method: 'POST', headers })
    if (response.status === 401) problem.textContent = 'That is not a token of this gateway.'
    else if (!response.ok) problem.textContent = 'The gateway answered ' + response.status + '.'
    else {
      localStorage.setItem('portico.session', (await response.json()).proof)
      goOn()
    }
  } catch {
    problem.textContent = 'The gateway cannot be reached.'
  }
})
`
