import { Link } from '@tanstack/react-router'
import { PAGES } from './pages.ts'

export function Navigation() {
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
