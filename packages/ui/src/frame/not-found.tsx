import { Link } from '@tanstack/react-router'

export function NotFound() {
  return (
    <section className="empty">
      <h1>There is no such page</h1>
      <p>
        <Link to="/">Overview</Link>, or <Link to="/requests">Requests</Link>.
      </p>
    </section>
  )
}
