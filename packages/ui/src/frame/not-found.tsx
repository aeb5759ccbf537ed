import { Link } from '@tanstack/react-router'
import '../parts/states.css'

export function NotFound() {
  return (
    <section className="empty">
      <h1>Page not found</h1>
      <p>
        <Link to="/">Overview</Link>, or <Link to="/requests">Requests</Link>.
      </p>
    </section>
  )
}
