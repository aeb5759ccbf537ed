import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate, Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { stateQuery } from '../api/queries.ts'
import './frame.css'
import { KeysHelp } from './keys-help.tsx'
import { PAGES } from './pages.ts'
import { Palette } from './palette.tsx'
import { StatusLine } from './status-line.tsx'
import { TopActions } from './top-actions.tsx'
import { useKeys } from '../parts/use-keys.ts'
import { isGone } from './is-gone.ts'

type Overlay = 'palette' | 'keys' | null

/** The frame of every page: status line, navigation, search, and the keys that work everywhere. */
export function Frame() {
  const [overlay, setOverlay] = useState<Overlay>(null)
  const navigate = useNavigate()
  const state = useQuery(stateQuery)
  const { pathname } = useLocation()
  const page = PAGES.find(({ to }) => to === pathname)?.name
  useEffect(() => {
    document.title = page === undefined ? 'Portico' : `${page} · Portico`
  }, [page])
  const close = (): void => setOverlay(null)
  useKeys({
    'mod+k': () => setOverlay('palette'),
    '?': () => setOverlay('keys'),
    ...Object.fromEntries(PAGES.map(({ key, to }) => [key, () => void navigate({ to })])),
  })
  return (
    <div className="frame">
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header className="top">
        <span className="brand">portico</span>
        <StatusLine />
        <TopActions onSearch={() => setOverlay('palette')} />
      </header>
      <Navigation />
      <main id="page" className={isGone(state) ? 'page gone' : 'page'} tabIndex={-1}>
        <Outlet />
      </main>
      <Palette opened={overlay === 'palette'} onClose={close} onKeys={() => setOverlay('keys')} />
      <KeysHelp opened={overlay === 'keys'} onClose={close} />
    </div>
  )
}

function Navigation() {
  return (
    <nav className="navigation" aria-label="Pages">
      {PAGES.map(({ to, name, Icon }) => (
        <Link key={to} to={to} className="nav-link" activeOptions={{ exact: to === '/', includeSearch: false }}>
          <Icon />
          {name}
        </Link>
      ))}
    </nav>
  )
}
