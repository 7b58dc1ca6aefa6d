const byId = (id) => document.getElementById(id)
const say = (text) => (byId('message').textContent = text)
const forms = ['link', 'sign-in', 'code', 'account']

const show = (id, message) => {
  for (const one of forms) byId(one).hidden = one !== id
  say(message)
  byId(id).querySelector('input:not([hidden]), button')?.focus()
}

/** The data of an answer; throws the API's own message. */
const call = async (method, path, body) => {
  const response = await fetch(`/api/v1/auth/${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error('The server cannot be reached.')
  })
  const answer = await response.json()
  if (!answer.success) throw new Error(answer.error.message)
  return answer.data
}

const showAccount = async () => {
  const session = await call('GET', 'session')
  if (session === null) return show('sign-in', 'Atrium is running. Sign in, or use the API with a key.')
  byId('who').textContent = `${session.user.name} (${session.user.email})`
  byId('orgs').textContent = session.orgs.map(({ name, role }) => `${name} (${role.replace('_', ' ')})`).join(', ')
  byId('password').hidden = session.user.hasPassword
  byId('password').elements.namedItem('username').value = session.user.email
  show('account', 'Atrium is running.')
}

const signedIn = ({ twoFactorRequired }) => {
  history.replaceState(null, '', '/')
  return twoFactorRequired ? show('code', 'One more step.') : showAccount()
}

const run = async (button, work) => {
  button.disabled = true
  try {
    await work()
  } catch (error) {
    say(error.message)
  } finally {
    button.disabled = false
  }
}

const onSubmit = (id, work) => {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault()
    void run(byId(id).querySelector('button'), () => work(Object.fromEntries(new FormData(event.target))))
  })
}

const token = new URLSearchParams(location.hash.slice(1)).get('link')

onSubmit('link', async () => signedIn(await call('POST', 'sign-in/link', { token })))
onSubmit('sign-in', async ({ email, password }) => signedIn(await call('POST', 'sign-in', { email, password })))
onSubmit('code', async ({ code }) => signedIn(await call('POST', 'sign-in/totp', { code })))
onSubmit('password', async ({ newPassword }) => {
  await call('POST', 'password', { newPassword })
  await showAccount()
  say('The password is set.')
})
byId('sign-out').addEventListener('click', ({ target }) => {
  void run(target, async () => {
    await call('POST', 'sign-out')
    await showAccount()
  })
})

if (token === null) showAccount().catch((error) => say(error.message))
else show('link', 'Welcome.')
