"""detect-secrets as a second opinion: what its vendors' detectors call a secret, we leave out too."""

from __future__ import annotations

import pytest
from made_credentials import KINDS, positives

from sessiondb.redact import findings

# Their detector by our kind; those that only measure entropy, or look for addresses, are not a credential's form.
DETECTORS = {
    "artifactory key": ("artifactory", "ArtifactoryDetector"),
    "aws access key": ("aws", "AWSKeyDetector"),
    "azure storage key": ("azure_storage_key", "AzureStorageKeyDetector"),
    "password in a url": ("basic_auth", "BasicAuthDetector"),
    "discord bot token": ("discord", "DiscordBotTokenDetector"),
    "github token": ("github_token", "GitHubTokenDetector"),
    "gitlab token": ("gitlab_token", "GitLabTokenDetector"),
    "json web token": ("jwt", "JwtTokenDetector"),
    "mailchimp key": ("mailchimp", "MailchimpDetector"),
    "openai key": ("openai", "OpenAIDetector"),
    "private key": ("private_key", "PrivateKeyDetector"),
    "pypi token": ("pypi_token", "PypiTokenDetector"),
    "sendgrid key": ("sendgrid", "SendGridDetector"),
    "slack token": ("slack", "SlackDetector"),
    "square token": ("square_oauth", "SquareOAuthDetector"),
    "stripe key": ("stripe", "StripeDetector"),
    "telegram bot token": ("telegram_token", "TelegramBotTokenDetector"),
    "twilio key": ("twilio", "TwilioKeyDetector"),
    "password": ("keyword", "KeywordDetector"),
    "secret value": ("keyword", "KeywordDetector"),
}


def detector(kind: str):
    from importlib import import_module

    module, name = DETECTORS[kind]
    return getattr(import_module(f"detect_secrets.plugins.{module}"), name)()


@pytest.mark.parametrize("kind", DETECTORS)
def test_what_the_oracle_finds_is_found(kind):
    judge = detector(kind)
    known = [text for other in KINDS for text in positives(other, 20) if list(judge.analyze_string(text))]
    missed = [text for text in known if not findings(text)]
    assert len(missed) <= len(known) // 100


@pytest.mark.parametrize("kind", sorted(set(DETECTORS) - {"password", "secret value", "twilio key", "openai key"}))
def test_the_oracle_agrees_that_ours_are_credentials(kind):
    judge = detector(kind)
    made = positives(kind, 30)
    assert sum(bool(list(judge.analyze_string(text))) for text in made) > 0
