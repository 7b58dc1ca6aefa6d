import { Type } from 'typebox'
import { IdOf, Nullable, TimestampOf } from '../../platform/http/schemas.ts'
import { LogoUrl, Role } from '../schemas.ts'

const password = { minLength: 1, maxLength: 128, examples: ['correct horse battery'] }
const code = { minLength: 6, maxLength: 6, examples: ['492039'] }
const sixDigits = 'Code of the authenticator app: 6 digits.'

export const SignIn = Type.Object({
  email: Type.String({
    minLength: 3,
    maxLength: 254,
    description: 'E-mail address, 3–254 characters.',
    examples: ['ada@example.com'],
  }),
  password: Type.String({ ...password, description: 'Password, 1–128 characters.' }),
})
export const SignInLink = Type.Object({
  token: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Token of the sign-in link: what follows `#link=`, at most 200 characters.',
    examples: ['8Lie1OstKwwCdr-dcJBd_GBYphSiDmokF00r77EEYmU'],
  }),
})
export const SignInLinkOrg = Type.Object(
  {
    org: Nullable(
      Type.Object({
        name: Type.String({ description: 'Name of the org.', examples: ['Northwind'] }),
        logoUrl: LogoUrl,
      }),
      'The org that the link opens. Null when it opens several or none.',
    ),
  },
  { description: 'What a sign-in link opens.' },
)
export const SignInCode = Type.Object(
  {
    code: Type.Optional(Type.String({ ...code, description: sixDigits })),
    backupCode: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        description: 'A backup code, at most 32 characters, in place of `code`. Each works once.',
        examples: ['k7Qm2-Xw9Rt'],
      }),
    ),
  },
  { examples: [{ code: '492039' }] },
)
export const SignedIn = Type.Object(
  {
    twoFactorRequired: Type.Boolean({
      description: 'Whether a second factor is required: send a code to `POST /auth/sign-in/totp` to get a session.',
    }),
  },
  { description: 'The result of the sign-in.' },
)

export const Session = Type.Object(
  {
    user: Type.Object(
      {
        id: IdOf('ID of the user.'),
        email: Type.String({ description: 'E-mail address.', examples: ['ada@example.com'] }),
        name: Type.String({ description: 'Name of the person.', examples: ['Ada Lovelace'] }),
        hasPassword: Type.Boolean({ description: 'Whether the person has a password.', examples: [true] }),
        twoFactorEnabled: Type.Boolean({ description: 'Whether two-factor authentication is on.', examples: [true] }),
      },
      { description: 'The person who is signed in.' },
    ),
    orgs: Type.Array(
      Type.Object({
        id: IdOf('ID of the org.'),
        name: Type.String({ description: 'Name of the org.', examples: ['Northwind'] }),
        role: Role,
        logoUrl: LogoUrl,
      }),
      { description: 'Orgs that the session opens.' },
    ),
    expiresAt: TimestampOf('Time when the session ends: 7 days after this request.', '2026-11-28T14:02:11.480Z'),
    failedSignIns: Nullable(
      Type.Object(
        {
          count: Type.Integer({ description: 'Number of failed attempts.', examples: [2] }),
          lastAt: TimestampOf('Time of the last failed attempt.'),
          addresses: Type.Array(Type.String(), {
            description: 'IP addresses of the latest attempts.',
            examples: [['203.0.113.7']],
          }),
        },
        {
          description:
            'Failed attempts to sign in as this person between the previous sign-in and this one. Null without any.',
          examples: [null],
        },
      ),
    ),
  },
  { description: 'A session of the console.' },
)

export const StepUp = Type.Object(
  {
    password: Type.Optional(
      Type.String({ ...password, description: 'Password, 1–128 characters. Send either this or `totpCode`.' }),
    ),
    totpCode: Type.Optional(Type.String({ ...code, description: `${sixDigits} Send either this or \`password\`.` })),
  },
  { examples: [{ password: 'correct horse battery' }] },
)
export const StepUpToken = Type.Object(
  {
    token: Type.String({
      description: 'Token for the header `X-Step-Up-Token`.',
      examples: ['q3hX0mJ5vN8sR2tYbL7wKzA1'],
    }),
    expiresAt: TimestampOf('Time of expiry, 10 minutes from now.', '2026-11-21T14:12:11.480Z'),
  },
  { description: 'A step-up token.' },
)

export const TwoFactorBegin = Type.Object({
  password: Type.String({ ...password, description: 'Password, 1–128 characters.' }),
})
export const TwoFactorSecret = Type.Object(
  {
    secret: Type.String({ description: 'Secret in base32, for typing.', examples: ['JBSWY3DPEHPK3PXP'] }),
    otpauthUri: Type.String({
      description: 'URI of the secret, for a QR code.',
      examples: ['otpauth://totp/Atrium:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Atrium'],
    }),
    backupCodes: Type.Array(Type.String(), {
      description: 'Backup codes. Each works once in place of a code.',
      examples: [['k7Qm2-Xw9Rt', 'p4Zn8-Bc3Vy']],
    }),
  },
  { description: 'The secret for the authenticator app. Returned only here.' },
)
export const TwoFactorConfirm = Type.Object({ code: Type.String({ ...code, description: sixDigits }) })
export const TwoFactorEnabled = Type.Object(
  { enabled: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that two-factor authentication is on.' },
)

export const PasswordChange = Type.Object(
  {
    currentPassword: Type.Optional(
      Type.String({
        ...password,
        description: 'Current password, 1–128 characters. Required, except for the first password of the session.',
      }),
    ),
    newPassword: Type.String({
      minLength: 8,
      maxLength: 128,
      description: 'New password, 8–128 characters.',
      examples: ['staple gun radiator'],
    }),
    totpCode: Type.Optional(
      Type.String({
        ...code,
        description: `${sixDigits} Required with the current password of another org that has two-factor authentication.`,
      }),
    ),
  },
  { examples: [{ currentPassword: 'correct horse battery', newPassword: 'staple gun radiator' }] },
)
export const PasswordChanged = Type.Object(
  { changed: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that the password is changed.' },
)
export const SignedOut = Type.Object(
  { signedOut: Type.Literal(true, { description: 'Always true.' }) },
  { description: 'Confirmation that the session has ended.' },
)
